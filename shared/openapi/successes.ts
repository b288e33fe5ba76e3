/** Successful answers of the document, and the headers of all answers. */
import type { Endpoint } from '#shared/contracts/endpoint.ts'
import { type Json, nameAfter, type NamedSchemas } from './named-schemas.ts'

const declared = (description: string, type = 'string', example?: unknown): Json => ({
  description,
  schema: { type },
  ...(example === undefined ? {} : { example }),
})

/** Headers of answers. */
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

/** Whether an answer has an ETag, so that 304 is possible. */
export const answersTagged = ({
  cacheMs,
  media,
  tagged,
}: Pick<Endpoint, 'cacheMs' | 'media' | 'tagged'>): boolean => tagged || cacheMs > 0 || media === 'image/png'

/** Text, or bytes. */
const plain = (media: string): Json =>
  media.startsWith('text/') || media.endsWith('xml')
    ? { schema: { type: 'string' } }
    : { schema: { type: 'string', format: 'binary' } }

function contentOf({ id, data, media, otherMedia }: Endpoint, schemas: NamedSchemas): Json {
  const others = Object.fromEntries(otherMedia.map((other) => [other, plain(other)]))
  const schema = () => schemas.reference(data, 'output', nameAfter(id, 'Answer'))
  switch (media) {
    case null:
      return {
        'application/json': {
          schema: {
            type: 'object',
            required: ['ok', 'data'],
            properties: { ok: { const: true }, data: schema() },
          },
        },
        ...others,
      }
    case 'application/json':
      return {
        [media]: { schema: schema() },
        ...others,
      }
    case 'text/event-stream':
      return {
        [media]: {
          schema: {
            type: 'string',
            contentMediaType: media,
            contentSchema: { type: 'object', properties: schemas.properties(data, 'output').properties },
          },
        },
      }
    default:
      return { [media]: plain(media), ...others }
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

/** Successful answers by status. */
export function successesOf(endpoint: Endpoint, schemas: NamedSchemas): Json {
  const tagged = answersTagged(endpoint)
  const own = {
    ...headers('X-Request-Id', ...(tagged ? (['ETag', 'Cache-Control'] as const) : [])),
    ...downloadHeader(endpoint),
  }
  const content = contentOf(endpoint, schemas)
  const description =
    endpoint.media === 'text/event-stream'
      ? 'Server-sent events, until the client or the service closes the stream; contentSchema has the data of each event by name'
      : 'Success'
  return {
    [endpoint.success]: { description, headers: own, content },
    ...(endpoint.mayContinue
      ? {
          202: {
            description: 'Accepted and recorded; the work continues after this answer',
            headers: own,
            content,
          },
        }
      : {}),
    ...(tagged
      ? {
          304: {
            description: 'Not modified: the client has this version (If-None-Match)',
            headers: headers('X-Request-Id', 'ETag', 'Cache-Control'),
          },
        }
      : {}),
  }
}
