/** Operations of the document: parameters and body, successful answers, refusals. */
import type { z } from 'zod'
import { type Endpoint, actsForPilgrim } from '#shared/contracts/endpoint.ts'
import { type Json, nameAfter, type NamedSchemas, parsedProperties } from './named-schemas.ts'
import { type ErrorCode, STATUS_OF_CODE, TEMPORARY_CODES } from '#shared/contracts/errors.ts'
import { BODY_PACE } from '#shared/service/http/body.ts'
import { ACCESS_LEVEL } from '#shared/service/security/admin-auth.ts'

export const TEXT: Json = { type: 'string' }
const BYTES: Json = { type: 'string', format: 'binary' }

/** Parameters of the path or the query. Numbers are described as numbers, although they are sent as text. */
function listed(contract: z.ZodType, place: 'path' | 'query', schemas: NamedSchemas): Json[] {
  const { properties, required } = schemas.properties(contract, 'input')
  const parsed = parsedProperties(contract).properties
  return Object.entries(properties).map(([name, sent]) => {
    const { description, ...written } = sent
    const { description: _, ...number } = parsed[name] ?? {}
    const isNumber = ['integer', 'number'].includes(number.type as string)
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description !== undefined && { description }),
      schema: isNumber ? { ...number, ...('default' in sent && { default: sent.default }) } : written,
    }
  })
}

export const headerParameter = (name: string, description: string, schema: Json = TEXT): Json => ({
  name,
  in: 'header',
  required: false,
  description,
  schema,
})

const CALLER = headerParameter(
  'X-Line-User-Id',
  'The pilgrim, where the request does not name one otherwise',
  { $ref: '#/components/schemas/UserId' },
)

function parametersOf(endpoint: Endpoint, schemas: NamedSchemas): Json[] {
  const { params, query, caller, headers } = endpoint
  return [
    ...listed(params, 'path', schemas),
    ...listed(query, 'query', schemas),
    ...(caller === 'none' ? [] : [CALLER]),
    ...Object.entries(headers).map(([name, description]) => headerParameter(name, description)),
    ...(answersTagged(endpoint) ? [{ $ref: '#/components/parameters/If-None-Match' }] : []),
    { $ref: '#/components/parameters/X-Request-Id' },
  ]
}

export const JSON_MEDIA = 'application/json'
export const EVENTS = 'text/event-stream'

function requestBodyOf({ id, bodyKind, body, sent }: Endpoint, schemas: NamedSchemas): Json {
  if (bodyKind === 'none') return {}
  const media: Readonly<Record<string, z.ZodType | null>> =
    Object.keys(sent).length > 0
      ? sent
      : bodyKind === 'json'
        ? { [JSON_MEDIA]: body }
        : { 'application/octet-stream': null }
  const content = Object.entries(media).map(([type, contract]) => {
    const name = nameAfter(id, type === JSON_MEDIA ? 'Request' : 'Form')
    return [type, { schema: contract === null ? BYTES : schemas.reference(contract, 'input', name) }]
  })
  return { requestBody: { required: true, content: Object.fromEntries(content) as Json } }
}

export const requestOf = (endpoint: Endpoint, schemas: NamedSchemas): Json => ({
  parameters: parametersOf(endpoint, schemas),
  ...requestBodyOf(endpoint, schemas),
})

const declared = (description: string, type = 'string', example?: unknown): Json => ({
  description,
  schema: { type },
  ...(example !== undefined && { example }),
})

export const HEADERS = {
  'X-Request-Id': declared('The id of this request: name it when you ask for help'),
  ETag: declared('The version of this answer, for If-None-Match'),
  'Cache-Control': declared('How long the answer may be kept'),
  'Retry-After': declared('Whole seconds to wait', 'integer', 12),
  RateLimit: declared('What is left of the rate limit', 'string', '"checkin";r=0;t=12'),
  'RateLimit-Policy': declared('The rate limit: requests and seconds', 'string', '"checkin";q=5;w=60'),
} satisfies Json

const headers = (...names: (keyof typeof HEADERS)[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const answersTagged = ({ cacheMs, media, tagged }: Endpoint): boolean =>
  tagged || cacheMs > 0 || media === 'image/png'

const plain = (media: string): Json => ({
  schema: media.startsWith('text/') || media.endsWith('xml') ? TEXT : BYTES,
})

function contentOf({ id, data, media, otherMedia }: Endpoint, schemas: NamedSchemas): Json {
  const others = Object.fromEntries(otherMedia.map((other) => [other, plain(other)]))
  if (media === EVENTS) {
    const { properties } = schemas.properties(data, 'output')
    const contentSchema = { type: 'object', properties }
    return { [media]: { schema: { type: 'string', contentMediaType: media, contentSchema } } }
  }
  if (media !== null && media !== JSON_MEDIA) return { [media]: plain(media), ...others }
  const answer = schemas.reference(data, 'output', nameAfter(id, 'Answer'))
  const properties = { ok: { const: true }, data: answer }
  const schema = media === null ? { type: 'object', required: ['ok', 'data'], properties } : answer
  return { [JSON_MEDIA]: { schema }, ...others }
}

const downloadHeader = ({ downloads }: Endpoint): Json => ({
  'Content-Disposition': {
    schema: { type: 'string', pattern: '^attachment; filename="[^"]+"$' },
    description: `With ${downloads.join(' and ')}: the name of the download`,
  },
})

export function successesOf(endpoint: Endpoint, schemas: NamedSchemas): Json {
  const tagged = answersTagged(endpoint)
  const basic = tagged ? headers('X-Request-Id', 'ETag', 'Cache-Control') : headers('X-Request-Id')
  const answered = (description: string) => ({
    description,
    headers: { ...basic, ...(endpoint.downloads.length > 0 && downloadHeader(endpoint)) },
    content: contentOf(endpoint, schemas),
  })
  return {
    [endpoint.success]: answered(
      endpoint.media === EVENTS
        ? 'Server-sent events, until the client or the service closes the stream; contentSchema has the data of each event by name'
        : 'Success',
    ),
    ...(endpoint.mayContinue && {
      202: answered('Accepted and recorded; the work continues after this answer'),
    }),
    ...(tagged && {
      304: { description: 'Not modified: the client has this version (If-None-Match)', headers: basic },
    }),
  }
}

// The errors of an endpoint: those that follow from its declaration, and those that it declares itself.

/** Example message for each error code. */
const SENTENCES: Record<ErrorCode, string> = {
  'invalid-request': 'lat: must be at most 90',
  unauthorized: 'The token is not valid.',
  forbidden: 'This needs the token of a manager or above.',
  paused: 'The event is paused: keep your points, they are taken when it goes on.',
  ended: 'The event has ended: nothing more is taken.',
  'not-found': 'There is no pilgrim with the id w-5hk3q7d2m9x0c4v8b1n6r2t7ye.',
  'method-not-allowed': 'This address takes GET, HEAD, OPTIONS.',
  'too-slow': `The body arrives too slowly (${BODY_PACE}): please send it again.`,
  conflict: 'The event has ended. An ended event cannot be reopened.',
  erased:
    'The data of this pilgrim were deleted, so nothing is stored. Agree to the privacy notice to start anew.',
  gone: 'This link has ended. Ask the pilgrim for a new one.',
  'too-large': 'The body is too large: send less in one request.',
  'rate-limited': 'Too many requests: at most 5 in 60 s. Try again in 12 s.',
  internal: 'Internal server error',
  unavailable: 'A part of the service is unavailable: please try again in a moment.',
  'buffer-full': 'Too many of your points are not stored yet. Keep the rest and send it in five minutes.',
}

const MEANINGS: Record<number, string> = {
  400: 'The request is not valid; the error names each invalid field',
  401: 'The token is missing or not valid',
  403: 'Not allowed in the present state, or not with this token; see code',
  404: 'The resource does not exist',
  408: `The body did not arrive: ${BODY_PACE}`,
  409: 'Not possible in the present state',
  410: 'It has ended, or has never existed',
  429: 'Too many requests; Retry-After says when to try again',
  500: 'Internal server error',
  503: 'A dependency is unavailable; Retry-After says when to try again',
}

const statusOf = ({ temporaryIs503 }: Endpoint, code: ErrorCode): number =>
  temporaryIs503 && TEMPORARY_CODES.includes(code) ? 503 : STATUS_OF_CODE[code]

function codesOf(endpoint: Endpoint): Map<number, ErrorCode[]> {
  const { access, limit, method, closedAtEnd, errors } = endpoint
  const codes = new Set<ErrorCode>(['invalid-request', 'internal', 'unavailable'])
  if (access !== 'public' || actsForPilgrim(endpoint)) codes.add('unauthorized')
  if (ACCESS_LEVEL[access] > 0 || actsForPilgrim(endpoint)) codes.add('forbidden')
  if (closedAtEnd) codes.add('ended')
  // Public reads are limited by address.
  if (limit !== null || method === 'GET') codes.add('rate-limited')
  if (method !== 'GET') for (const code of ['too-slow', 'too-large'] as const) codes.add(code)
  const all = Object.keys(STATUS_OF_CODE) as ErrorCode[]
  for (const error of errors)
    codes.add(typeof error === 'number' ? all.find((code) => STATUS_OF_CODE[code] === error)! : error)
  const status = (code: ErrorCode) => statusOf(endpoint, code)
  return Map.groupBy(
    all.filter((code) => codes.has(code)).sort((a, b) => status(a) - status(b)),
    status,
  )
}

const REFUSAL_HEADERS: Record<number, Json> = {
  429: headers('Retry-After', 'RateLimit', 'RateLimit-Policy'),
  503: headers('Retry-After'),
}

const REQUEST_ID = '0f6f9c1e-6d0b-4c5e-9a55-5a3a2c1f7a10'
const example = (code: ErrorCode) => [
  code,
  { value: { error: SENTENCES[code], code, request_id: REQUEST_ID } },
]

export function refusalsOf(endpoint: Endpoint, schemas: NamedSchemas, bodyBytes: number): Json {
  const responses = [...codesOf(endpoint)].map(([status, codes]) => {
    const error: Json = {
      allOf: [
        { $ref: '#/components/schemas/ErrorBody' },
        { type: 'object', properties: { code: { type: 'string', enum: codes } } },
      ],
    }
    const more = endpoint.refusals[status]
    const other = more && schemas.reference(more, 'output', `${endpoint.id}Refusal`)
    const large =
      endpoint.bodyBytes === null
        ? `The body is larger than the configured limit (EVENT_BODY_BYTES, ${bodyBytes} bytes)`
        : `The body is larger than ${endpoint.bodyBytes} bytes${
            endpoint.sentBytes === null
              ? ''
              : ` without its long strings, or than ${endpoint.sentBytes} with them`
          }`
    return [
      status,
      {
        description: status === 413 ? large : MEANINGS[status],
        headers: { ...headers('X-Request-Id'), ...REFUSAL_HEADERS[status] },
        content: {
          [JSON_MEDIA]: {
            schema: other === undefined ? error : { anyOf: [other, error] },
            examples: Object.fromEntries(codes.map(example)) as Json,
          },
          ...(endpoint.errorPages.includes(status) && { 'text/html': { schema: TEXT } }),
        },
      },
    ]
  })
  return Object.fromEntries(responses) as Json
}
