/** The API's OpenAPI 3.1 document, generated from the table of endpoints. */
import { actsForPilgrim, type Endpoint, type ServiceName } from '#shared/contracts/endpoint.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { ErrorBody } from '#shared/contracts/errors.ts'
import { EXAMPLE_DAY, USER_ID_ALIASES, UserId } from '#shared/contracts/fields.ts'
import { createExamples, type Document } from './examples.ts'
import { type Json, NamedSchemas } from './named-schemas.ts'
import { HEADERS, headerParameter, refusalsOf, requestOf, successesOf } from './operations.ts'

/** The default of EVENT_BODY_BYTES. */
const BODY_BYTES = 102_400

const COMPONENTS = {
  parameters: {
    'X-Request-Id': headerParameter(
      'X-Request-Id',
      'An id of your own for this request. The answer and the logs have it',
      { type: 'string', pattern: '^[A-Za-z0-9_.:-]{1,64}$' },
    ),
    'If-None-Match': headerParameter('If-None-Match', 'The ETag of the version that the client has'),
  },
  headers: HEADERS,
  securitySchemes: {
    adminToken: {
      type: 'apiKey',
      in: 'header',
      name: 'X-Admin-Token',
      description: 'The token of an operator: volunteer, manager or owner',
    },
    idToken: {
      type: 'http',
      scheme: 'bearer',
      description: 'The LIFF ID token of the pilgrim; needed where EVENT_IDENTITY is line',
    },
  },
}

const [USER_ID, ...OTHER_NAMES] = USER_ID_ALIASES

const DESCRIPTION = `A success is \`{"ok": true, "data": …}\`. A refusal is \`{"error": "…", "code": "…", "request_id": "…"}\`:
\`error\` is a sentence for a person, \`code\` is for programs. Times are ISO 8601 in UTC. Distances are kilometres.

A pilgrim is named by \`${USER_ID}\` in the body or the query of a request; ${OTHER_NAMES.map((name) => `\`${name}\``).join(' and ')} are
accepted too, and the header \`X-Line-User-Id\` where the body has none. Answers name the pilgrim \`userId\`.

Sending a write again is always safe. After 408, 429, 500, 503 and without an answer: keep the data, wait \`Retry-After\` seconds, send it again.

For programs, this document is at [/api/event/openapi.json](/api/event/openapi.json).`

function securityOf(endpoint: Endpoint): Json[] {
  const { access, readsIdentity } = endpoint
  const pilgrim = actsForPilgrim(endpoint) || readsIdentity ? [{ idToken: [] }] : []
  if (access === 'public') return pilgrim.length > 0 ? [{}, ...pilgrim] : []
  return access === 'optional' ? [{}, { adminToken: [] }, ...pilgrim] : [{ adminToken: [] }]
}

/** `checkIn` → `Check in`. */
const titleOf = (id: string): string =>
  id
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^./, (first) => first.toUpperCase())

const operationOf = (endpoint: Endpoint, schemas: NamedSchemas, bodyBytes: number): Json => ({
  operationId: endpoint.id,
  summary: titleOf(endpoint.id),
  description: endpoint.summary,
  tags: [TAGS[endpoint.service].name],
  ...requestOf(endpoint, schemas),
  security: securityOf(endpoint),
  responses: {
    ...successesOf(endpoint, schemas),
    ...refusalsOf(endpoint, schemas, bodyBytes),
  },
})

/** The path of an endpoint in the notation of OpenAPI. */
export const templateOf = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}')

/** An endpoint's operation in a document. */
export const operationIn = <T>(
  paths: Readonly<Record<string, Readonly<Record<string, T>>>>,
  { path, method }: Endpoint,
): T => paths[templateOf(path)]![method.toLowerCase()]!

interface Options {
  readonly bodyBytes?: number
  /** Day of the examples, `YYYY-MM-DD`. */
  readonly day?: string
}

export function openApiDocument(
  name: string,
  { bodyBytes = BODY_BYTES, day = EXAMPLE_DAY }: Options = {},
): Json {
  const schemas = new NamedSchemas()
  schemas.reference(ErrorBody, 'output', 'ErrorBody')
  schemas.reference(UserId, 'input', 'UserId')
  const paths: Record<string, Json> = {}
  for (const endpoint of ENDPOINTS)
    (paths[templateOf(endpoint.path)] ??= {})[endpoint.method.toLowerCase()] = operationOf(
      endpoint,
      schemas,
      bodyBytes,
    )
  const document = schemas.finish({
    openapi: '3.1.0',
    info: {
      title: `${name}: event tracking`,
      version: '1.0.0',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Relative, so that the page sends requests to the host name it was opened on: the service has two names.
    servers: [{ url: '/', description: 'The server that sent this document' }],
    tags: Object.values(TAGS),
    paths,
    components: COMPONENTS,
  })
  const finished = document as unknown as Document
  const addExamples = createExamples(finished.components.schemas)
  for (const endpoint of ENDPOINTS) addExamples(operationIn(finished.paths, endpoint), endpoint)
  return JSON.parse(JSON.stringify(document).replaceAll(EXAMPLE_DAY, day)) as Json
}

// A chapter of the documentation for each service.

const TAGS: Record<ServiceName, { readonly name: string; readonly description: string }> = {
  tracking: { name: 'Check-ins, tracks, map', description: 'What phones send while their owners walk' },
  'survey-profile': { name: 'Profile and survey', description: 'What pilgrims say about themselves' },
  'feedback-media': { name: 'Feedback and cards', description: 'Reports, screenshots and share cards' },
  admin: {
    name: 'Operation',
    description: 'The state of the event, reports, people, and this documentation',
  },
  'line-bot': { name: 'Messages', description: 'The LINE bot: webhook, menus, messages to pilgrims' },
  scheduler: { name: 'Schedule', description: 'What the service does by itself' },
}
