/** The API's OpenAPI 3.1 document, generated from the table of endpoints. */
import { z } from 'zod'
import { ACCESS_LEVEL } from '#shared/security/admin-auth.ts'
import type { Endpoint } from '#shared/contracts/endpoint.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { ErrorBody } from '#shared/contracts/errors.ts'
import { UserId } from '#shared/contracts/fields.ts'
import { BODY_PACE } from '#shared/http/body.ts'

type Json = Record<string, unknown>

/** A contract as JSON Schema: `input` for requests, `output` for answers. */
function schemaOf(contract: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(contract, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
  })
  return schema
}

const MEANINGS: Record<number, string> = {
  400: 'The request is not valid; the error names each invalid field',
  401: 'The token is missing or not valid',
  403: 'Not allowed in the present state, or not with this token; see code',
  404: 'The resource does not exist',
  408: `The body did not arrive: ${BODY_PACE}`,
  409: 'Not possible in the present state',
  413: 'The body is larger than 102,400 bytes',
  429: 'Too many requests; Retry-After says when to try again',
  500: 'Internal server error',
  503: 'A dependency is unavailable; Retry-After says when to try again',
}

/** Statuses of refusals: those that follow from an endpoint's declaration, and those that it declares itself. */
function refusalsOf(endpoint: Endpoint): number[] {
  const { access, caller, limit, method, closedAtEnd, errors } = endpoint
  const refusals = new Set([...errors, 400, 500, 503])
  // With EVENT_IDENTITY=line, calls in a pilgrim's name may be refused, too.
  const named = access === 'public' && (caller === 'body' || caller === 'header')
  if (access !== 'public' || named) refusals.add(401)
  if (ACCESS_LEVEL[access] > 0 || closedAtEnd || named) refusals.add(403)
  if (limit !== null) refusals.add(429)
  if (method !== 'GET') for (const status of [408, 413]) refusals.add(status)
  return [...refusals].sort((a, b) => a - b)
}

const json = (schema: Json): Json => ({ 'application/json': { schema } })
const BINARY = { schema: { type: 'string', format: 'binary' } }

function errorAnswer(status: number, { refusals }: Endpoint): Json {
  const error = { $ref: '#/components/schemas/Error' }
  const more = refusals[status]
  return {
    description: MEANINGS[status] ?? 'Refused',
    ...(status === 429 || status === 503
      ? { headers: { 'Retry-After': { schema: { type: 'integer' }, description: 'Whole seconds' } } }
      : {}),
    content: json(more === undefined ? error : { anyOf: [schemaOf(more, 'output'), error] }),
  }
}

/** Whether an answer has an ETag, so that 304 is possible. */
const isTagged = ({ cacheMs, media, tagged }: Endpoint): boolean =>
  tagged || cacheMs > 0 || media === 'image/png'

function contentOf({ data, media, otherMedia }: Endpoint): Json {
  const others = Object.fromEntries(otherMedia.map((other) => [other, BINARY]))
  const body = () => schemaOf(data, 'output')
  switch (media) {
    case null:
      return {
        ...json({
          type: 'object',
          required: ['ok', 'data'],
          properties: { ok: { const: true }, data: body() },
        }),
        ...others,
      }
    case 'application/json':
      return { ...json(body()), ...others }
    case 'text/event-stream':
      return { [media]: { schema: { type: 'string' }, 'x-events': body().properties } }
    default:
      return { [media]: BINARY, ...others }
  }
}

const downloadHeader = ({ downloads }: Endpoint): Json =>
  downloads.length === 0
    ? {}
    : {
        'Content-Disposition': {
          schema: { type: 'string', pattern: '^attachment; filename="[^"]+"$' },
          description: `With ${downloads.join(' and ')}: the name of the download`,
        },
      }

/** Successful answers. */
function successAnswers(endpoint: Endpoint): Json {
  const events = endpoint.media === 'text/event-stream'
  const headers = { ETag: { schema: { type: 'string' } } }
  const ownHeaders = { ...(isTagged(endpoint) ? headers : {}), ...downloadHeader(endpoint) }
  return {
    [endpoint.success]: {
      description: events
        ? 'Server-sent events, until the client or the service closes the stream; x-events has the data of each event by name'
        : 'Success',
      ...(Object.keys(ownHeaders).length > 0 ? { headers: ownHeaders } : {}),
      content: contentOf(endpoint),
    },
    ...(endpoint.mayContinue
      ? {
          202: {
            description: 'Accepted and recorded; the work continues after this answer',
            content: contentOf(endpoint),
          },
        }
      : {}),
    ...(isTagged(endpoint)
      ? { 304: { description: 'Not modified: the client has this version (If-None-Match)', headers } }
      : {}),
  }
}

/** The header that names the pilgrim, for endpoints without another field for it. */
const CALLER: Json = {
  name: 'X-Line-User-Id',
  in: 'header',
  required: false,
  description: 'The pilgrim whose rate limit applies; without this header it is that of the address',
  schema: schemaOf(UserId, 'input'),
}

function parametersOf({ params, query, caller }: Endpoint): Json[] {
  const listed = (contract: z.ZodType, place: 'path' | 'query') => {
    const { properties = {}, required = [] } = schemaOf(contract, 'input') as {
      properties?: Record<string, Json>
      required?: string[]
    }
    return Object.entries(properties).map(([name, schema]) => ({
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      schema,
    }))
  }
  return [...listed(params, 'path'), ...listed(query, 'query'), ...(caller === 'header' ? [CALLER] : [])]
}

function requestBodyOf({ bodyKind, body }: Endpoint): Json {
  if (bodyKind === 'none') return {}
  const content =
    bodyKind === 'json'
      ? { 'application/json': { schema: schemaOf(body, 'input') } }
      : { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }
  return { requestBody: { required: true, content } }
}

const operationOf = (endpoint: Endpoint): Json => ({
  operationId: endpoint.id,
  summary: endpoint.summary,
  tags: [endpoint.service],
  parameters: parametersOf(endpoint),
  ...requestBodyOf(endpoint),
  ...(endpoint.access === 'public'
    ? {}
    : { security: endpoint.access === 'optional' ? [{}, { adminToken: [] }] : [{ adminToken: [] }] }),
  responses: {
    ...successAnswers(endpoint),
    ...Object.fromEntries(refusalsOf(endpoint).map((status) => [status, errorAnswer(status, endpoint)])),
  },
})

/** The whole document. @param name of the event @param url address of the API */
export function openApiDocument(name: string, url: string): Json {
  const paths: Record<string, Json> = {}
  for (const endpoint of ENDPOINTS)
    (paths[endpoint.path.replaceAll(/:(\w+)/g, '{$1}')] ??= {})[endpoint.method.toLowerCase()] =
      operationOf(endpoint)
  return {
    openapi: '3.1.0',
    info: {
      title: `${name}: event tracking`,
      version: '1.0.0',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url }],
    paths,
    components: {
      securitySchemes: { adminToken: { type: 'apiKey', in: 'header', name: 'X-Admin-Token' } },
      schemas: { Error: schemaOf(ErrorBody, 'output') },
    },
  }
}
