/** Generates requests to every endpoint from openapi.json: mostly valid, with some faults. */
import fc from 'fast-check'
import { mutate, mutation, writeJson } from './json.ts'
import { multipart, picture } from './pictures.ts'
import { fromSchema, parameter, type Schema } from './schema.ts'
import { lineEvents, push } from './messages.ts'
import { type Existing, existingValues } from './existing.ts'
import { tracker, trackerForm, trackerQuery } from './trackers.ts'
import { cursor, file, inUrl, queryKey } from './urls.ts'
import { type Framing, framed, framing, isSound } from './framing.ts'

export interface FuzzRequest {
  /** The original operation, such as `POST /api/event/checkin`. */
  readonly operation: string
  readonly method: string
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer
  readonly framing: Framing
  /** Whether method or target were altered, so that another operation may answer. */
  readonly bent: boolean
  /** Whether it is valid HTTP; otherwise the server may close the connection. */
  readonly sound: boolean
  /** The pilgrim whom the body names, if any. */
  readonly userId: string | null
}

export interface Operation {
  readonly parameters: readonly {
    name: string
    in: 'path' | 'query' | 'header'
    required: boolean
    schema: Schema
  }[]
  readonly requestBody?: { content: Record<string, { schema: Schema }> }
}
export interface Description {
  readonly paths: Record<string, Record<string, Operation>>
}

/** Excluded, because it would end the event for all later requests. */
const END = 'POST /api/event/admin/end-activity'
/** Another operation of the same path may be altered into it. */
const isEnd = ({ method, target }: FuzzRequest): boolean =>
  method === 'POST' && /end.{0,3}activity/i.test(target)

const optional = (name: string, value: fc.Arbitrary<string>) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant('') },
    { weight: 5, arbitrary: value.map((one) => `${name}=${one}`) },
    { weight: 1, arbitrary: value.map((one) => `${name}=${one}&${name}=2`) },
    { weight: 1, arbitrary: value.map((one) => `${name}[]=${one}&${name}.a=1`) },
    { weight: 1, arbitrary: fc.tuple(queryKey, value).map(([key, one]) => `${key}=${one}&${name}=${one}`) },
  )

function targetOf(path: string, { parameters }: Operation, existing: Existing): fc.Arbitrary<string> {
  const value = ({ name, schema }: Operation['parameters'][number]) => {
    const any = inUrl(name === 'cursor' ? cursor : name === 'file' ? file : parameter(name, schema))
    const known = existingValues(existing, path, name)
    return known.length === 0 ? any : fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...known) }, any)
  }
  const inPath = parameters.filter((one) => one.in === 'path')
  const query = parameters.filter((one) => one.in === 'query')
  return fc
    .tuple(
      fc.tuple(...inPath.map(value)),
      fc.tuple(...query.map((one) => optional(one.name, value(one)))),
      path.includes('/ingest/') ? fc.option(trackerQuery) : fc.constant(null),
    )
    .map(([values, pairs, sent]) => {
      const filled = inPath.reduce((at, { name }, i) => at.replace(`{${name}}`, () => values[i] || '_'), path)
      const asked = sent ?? pairs.filter(Boolean).join('&')
      return asked === '' ? filled : `${filled}?${asked}`
    })
}

const changes = fc.oneof(
  { weight: 2, arbitrary: fc.constant([]) },
  { weight: 3, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 3 }) },
)
const json = (value: fc.Arbitrary<unknown>): fc.Arbitrary<Buffer> =>
  fc.tuple(value, changes).map(([document, list]) => Buffer.from(writeJson(mutate(document, list))))

interface Body {
  readonly bytes: Buffer
  readonly type: string
}
const typed = (type: string, bytes: fc.Arbitrary<Buffer>): fc.Arbitrary<Body> =>
  bytes.map((one) => ({ bytes: one, type }))

const TYPES = [
  'text/plain',
  'application/json; charset=utf-16',
  'multipart/form-data',
  'application/x-www-form-urlencoded',
  'x',
  '',
  '*/*',
  'application/json;;=',
]

function bodyOf(operation: string, { requestBody }: Operation): fc.Arbitrary<Body> {
  const schema = requestBody?.content['application/json']?.schema
  const form = requestBody?.content['application/x-www-form-urlencoded']?.schema
  const asForm = typed('application/x-www-form-urlencoded', trackerForm)
  const known =
    schema !== undefined
      ? fc.oneof(
          typed(
            'application/json',
            json(
              operation.endsWith('/push')
                ? fc.oneof(push, fromSchema(schema))
                : tracker(operation, fromSchema(schema)),
            ),
          ),
          ...(form === undefined ? [] : [asForm]),
        )
      : form !== undefined
        ? asForm
        : operation.endsWith('/webhook')
          ? typed('application/json', json(lineEvents))
          : requestBody !== undefined
            ? fc.oneof(
                typed('image/png', picture),
                multipart,
                typed(
                  'application/json',
                  picture.map((bytes) => Buffer.from(JSON.stringify({ image: bytes.toString('base64') }))),
                ),
              )
            : typed('', fc.constant(Buffer.alloc(0)))
  return fc.oneof(
    { weight: 14, arbitrary: known },
    { weight: 1, arbitrary: typed('application/json', json(fc.constant({}))) },
    {
      weight: 1,
      arbitrary: typed(
        'application/octet-stream',
        fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(known, fc.constantFrom(...TYPES)).map(([{ bytes }, type]) => ({ bytes, type })),
    },
  )
}

/** What requests may know. */
export interface Known {
  /** Of operators. */
  readonly tokens: readonly string[]
  readonly existing: Existing
}

/** Every kind of request to one operation. */
function requestTo(method: string, path: string, operation: Operation, { tokens, existing }: Known) {
  const name = `${method} ${path}`
  return fc
    .record({
      target: targetOf(path, operation, existing),
      body: bodyOf(name, operation),
      how: framing(tokens, operation.requestBody !== undefined),
    })
    .map(({ target, body, how }): FuzzRequest => {
      const { method: sent, target: where, headers } = framed(method, target, body.type, how)
      const id = /"(?:user_id|userId)":"(fuzz-[0-9a-z]+)"/.exec(body.bytes.toString('latin1'))?.[1] ?? null
      return {
        operation: name,
        method: sent,
        target: where,
        headers,
        body: operation.requestBody === undefined && how.kind === 'length' ? Buffer.alloc(0) : body.bytes,
        framing: how.kind,
        bent: sent !== method || where !== target,
        sound: isSound(how) && /^(\/|https?:)([^%]|%[\da-f]{2})*$/i.test(where),
        userId: id,
      }
    })
}

/** Requests to every operation of the document with equal probability. */
export function requests(document: Description, known: Known): fc.Arbitrary<FuzzRequest> {
  const all = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => [method.toUpperCase(), path, operation] as const),
  )
  return fc
    .oneof(
      ...all
        .filter(([method, path]) => `${method} ${path}` !== END)
        .map(([method, path, operation]) => requestTo(method, path, operation, known)),
    )
    .filter((request) => !isEnd(request))
}
