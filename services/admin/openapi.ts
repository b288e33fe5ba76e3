/** The API's own description, OpenAPI 3.1, generated from the table of endpoints. */
import { z } from 'zod'
import { ACCESS_LEVEL } from '#shared/auth.ts'
import type { Endpoint } from '#shared/contracts/endpoint.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { ErrorBody } from '#shared/contracts/errors.ts'

type Json = Record<string, unknown>

/** A contract as JSON Schema; `input` for what clients send, `output` for what they get. */
function schemaOf(contract: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(contract, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
  })
  return schema
}

const MEANINGS: Record<number, string> = {
  400: 'The request is not valid; the sentence names each faulty field',
  401: 'The token is missing or not valid',
  403: 'Not allowed just now, or not with this token; see code',
  404: 'There is no such thing',
  408: 'The body did not arrive within 25 s',
  409: 'Not possible in the present state',
  413: 'The body is larger than 102,400 bytes',
  429: 'Too many requests; Retry-After says when',
  500: 'Internal server error',
  503: 'A part that the answer needs is away; Retry-After says when to try again',
}

/** Refusals that follow from an endpoint's declaration, and those it names itself. */
function refusalsOf(endpoint: Endpoint): number[] {
  const { access, limit, bodyKind, closedAtEnd, errors } = endpoint
  const refusals = new Set([...errors, 400, 500, 503])
  if (access !== 'public') refusals.add(401)
  if (ACCESS_LEVEL[access] > 0 || closedAtEnd) refusals.add(403)
  if (limit !== null) refusals.add(429)
  if (bodyKind !== 'none') refusals.add(408).add(413)
  return [...refusals].sort((a, b) => a - b)
}

const errorAnswer = (status: number): Json => ({
  description: MEANINGS[status] ?? 'Refused',
  ...(status === 429 || status === 503
    ? { headers: { 'Retry-After': { schema: { type: 'integer' }, description: 'Whole seconds' } } }
    : {}),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
})

function successAnswer({ data, media }: Endpoint): Json {
  if (media === 'text/event-stream')
    return {
      description: 'Events, until the client or the service ends it; data of each event by its name',
      content: { [media]: { schema: { type: 'string' }, 'x-events': schemaOf(data, 'output').properties } },
    }
  if (media !== null && media !== 'application/json')
    return { description: 'Success', content: { [media]: { schema: { type: 'string', format: 'binary' } } } }
  const body = schemaOf(data, 'output')
  const envelope = {
    type: 'object',
    required: ['ok', 'data'],
    properties: { ok: { const: true }, data: body },
  }
  return {
    description: 'Success',
    content: { 'application/json': { schema: media === null ? envelope : body } },
  }
}

function parametersOf({ params, query }: Endpoint): Json[] {
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
  return [...listed(params, 'path'), ...listed(query, 'query')]
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
  operationId: `${endpoint.method.toLowerCase()}${endpoint.path.replaceAll(/[^A-Za-z0-9]+/g, '_')}`,
  summary: endpoint.summary,
  tags: [endpoint.service],
  parameters: parametersOf(endpoint),
  ...requestBodyOf(endpoint),
  ...(endpoint.access === 'public'
    ? {}
    : { security: endpoint.access === 'optional' ? [{}, { adminToken: [] }] : [{ adminToken: [] }] }),
  responses: {
    [endpoint.success]: successAnswer(endpoint),
    ...Object.fromEntries(refusalsOf(endpoint).map((status) => [status, errorAnswer(status)])),
  },
})

/** The whole document. @param name of the event @param url address of the API */
export function openApi(name: string, url: string): Json {
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
