/** Generates requests to every endpoint from openapi.json: mostly valid, with some faults. */
import fc from 'fast-check'
import { mutate, mutation, writeJson, hostileText } from './json.ts'
import { fromSchema, parameter, type Schema, epoch, url, userId } from './schema.ts'
import { type Existing, existingValues } from './existing.ts'
import { type Framing, framed, framing, isSound } from './framing.ts'
import { KEYS, spoilt, TIMES } from './edges.ts'
import { FORMS, type Fix } from '#tests/tracking/tracker-bodies.ts'
import { NO_POSITIONS, REFUSED } from '#tests/tracking/tracker-oddities.ts'

/** A delivery of the webhook. */
const lineEvents = fc
  .array(
    fc.record(
      {
        type: fc.constantFrom('message', 'follow', 'unfollow', 'postback', 'join', 'x'),
        webhookEventId: spoilt(fc.uuid(), KEYS),
        timestamp: epoch,
        source: fc.record({ type: fc.constantFrom('user', 'group'), userId }),
        replyToken: fc.string(),
        // Possible future fields of LINE, and impossible ones.
        deliveryContext: fc.dictionary(spoilt(fc.constant('isRedelivery'), KEYS), fc.boolean()),
        message: fc.record({ type: fc.constantFrom('text', 'image'), id: fc.string(), text: hostileText }),
        postback: fc.record({ data: fc.constantFrom('action=level', 'action=__proto__', 'x') }),
      },
      { requiredKeys: ['type', 'webhookEventId', 'timestamp'] },
    ),
    { maxLength: 3 },
  )
  .map((events) => ({ destination: 'U0', events }))

/** Valid pushes. Random values of the schema would almost always violate the rules between fields. */
const push = fc.record(
  {
    audience: fc.constantFrom('all', 'participants', 'volunteers', 'completed'),
    text: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
    image_url: url,
    dry_run: fc.boolean(),
  },
  { requiredKeys: ['audience', 'image_url'] },
)

/** 1 × 1 pixels of each format, and other content. */
const PICTURES = [
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/yQALCAABAAEBAREA/8wABgAQEAX/2gAIAQEAAD8A0s8g/9k=',
  'UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA',
  'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7',
  Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><image href="http://127.0.0.1:1/"/></svg>').toString(
    'base64',
  ),
].map((text) => Buffer.from(text, 'base64'))

/** Pictures to upload: valid ones, and ones with changed, removed or added bytes. */
const picture: fc.Arbitrary<Buffer> = fc
  .record({
    whole: fc.constantFrom(...PICTURES),
    flips: fc.array(fc.tuple(fc.nat(200), fc.integer({ min: 0, max: 255 })), { maxLength: 4 }),
    length: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(200) }),
    tail: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(5_000) }),
  })
  .map(({ whole, flips, length, tail }) => {
    const bytes = Buffer.concat([whole, Buffer.alloc(tail, 0x41)])
    for (const [at, byte] of flips) bytes[at % bytes.length] = byte
    return length === null ? bytes : bytes.subarray(0, length)
  })

const NAMES = [
  'file',
  'image',
  '',
  '"',
  '__proto__',
  'file"; filename="b',
  'x'.repeat(3_000),
  '\r\nX-A: b',
  '檔案',
]
const FILES = [
  'a.png',
  '../../etc/passwd',
  'a.png\u0000.sh',
  '',
  'a".png',
  '\r\nContent-Type: text/html',
  'CON',
  '😀.png',
]

/** Forms as browsers send them, and forms with a wrong boundary, header or end. */
const multipart: fc.Arbitrary<{ readonly bytes: Buffer; readonly type: string }> = fc
  .record({
    parts: fc.array(
      fc.record({
        name: fc.constantFrom(...NAMES),
        file: fc.option(fc.constantFrom(...FILES)),
        bytes: picture,
      }),
      { maxLength: 3 },
    ),
    boundary: fc.constantFrom('b', '----WebKitFormBoundary7MA4YWxk', '"', 'b b', '', 'x'.repeat(200)),
    announced: fc.oneof(
      { weight: 5, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constantFrom('other', '', 'b"') },
    ),
    end: fc.constantFrom('--\r\n', '--', '', '\r\n'),
  })
  .map(({ parts, boundary, announced, end }) => ({
    bytes: Buffer.concat([
      ...parts.flatMap(({ name, file, bytes }) => [
        Buffer.from(
          `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file === null ? '' : `; filename="${file}"`}\r\n\r\n`,
        ),
        bytes,
        Buffer.from('\r\n'),
      ]),
      Buffer.from(`--${boundary}${end}`),
    ]),
    type: `multipart/form-data; boundary=${announced ?? boundary}`,
  }))

const fix: fc.Arbitrary<Fix> = fc.record({
  lat: fc.double({ min: -91, max: 91 }),
  lng: fc.double({ min: -181, max: 181 }),
  ms: fc.integer({ min: -1, max: 86_400 * 40 }).map((ago) => Date.now() - ago * 1_000),
  speedMs: fc.option(fc.double({ min: -2, max: 1e10, noNaN: true })),
})

const sent = fc
  .tuple(
    fc.constantFrom(
      ...Object.values(FORMS),
      ...Object.values(NO_POSITIONS),
      ...REFUSED.map(([, , form]) => form),
    ),
    fix,
  )
  .map(([form, at]) => form(at))

const parsed = (body: string | undefined): unknown => {
  try {
    return JSON.parse(body ?? 'null') as unknown
  } catch {
    return body
  }
}

/** A JSON body for an operation; for tracker apps, any app's. @param usual bodies from its schema */
const tracker = (operation: string, usual: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  operation.includes('/ingest/')
    ? fc.oneof(
        usual,
        sent.map(({ body }) => parsed(body)),
      )
    : usual

const PARAMETERS = [
  'lat',
  'lon',
  'lng',
  'location',
  'valid',
  'timestamp',
  'time',
  'speed',
  'speed_ms',
  'spd',
  'spd_kph',
  'accuracy',
  'acc',
  'altitude',
  'alt',
  '__proto__',
  'constructor',
]

const parameters = fc
  .tuple(
    sent,
    fc.option(fc.tuple(fc.constantFrom(...PARAMETERS), hostileText)),
    fc.option(fc.nat(3_000), { freq: 20 }),
  )
  .map(([{ body, query }, fault, more]) => {
    const form = new URLSearchParams(query ?? (body?.startsWith('{') ? '' : body) ?? '')
    if (fault !== null) form.set(fault[0], fault[1])
    for (let i = 0; i < (more ?? 0); i++) form.append(i.toString(36), '')
    return form.toString()
  })

/** A form, with faults in its values. */
const trackerForm: fc.Arbitrary<Buffer> = parameters.map((form) => Buffer.from(form))

/** A query of a tracker app, with faults in its values. */
const trackerQuery: fc.Arbitrary<string> = parameters.map((query) => query.slice(0, 6_000))

const LISTS = [
  'surveys',
  'audit',
  'roles',
  'feedback',
  'board',
  'users:userId:asc',
  'users:km:desc',
  'users:last_seen:desc',
]
/** Forged cursors with the structure of real ones. */
const cursor = fc
  .tuple(
    fc.constantFrom(...LISTS),
    fc.array(fc.oneof(hostileText, fc.integer(), fc.double()), { maxLength: 3 }),
  )
  .map((parts) => Buffer.from(JSON.stringify(parts.flat())).toString('base64url'))

const percent = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())
/** A value in a URL: properly encoded, byte by byte, or as invalid UTF-8. */
const inUrl = (value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 12, arbitrary: value.map(encoded) },
    { weight: 3, arbitrary: hostileText.map(encoded) },
    { weight: 1, arbitrary: fc.constantFrom(...TIMES).map(encoded) },
    { weight: 1, arbitrary: hostileText.map((text) => percent(text.slice(0, 300))) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '%',
        '%zz',
        '%ff',
        '%00',
        '%c0%af',
        '%ed%a0%80',
        '%u0041',
        '+',
        '%2f',
        '%5c',
      ),
    },
  )

const file = fc.oneof(
  userId.map((id) => `${id}.png`),
  fc.constantFrom(
    `${'a'.repeat(32)}.png`,
    '.png',
    'x',
    '..png',
    'x.PNG',
    'x.png.png',
    'x.png%00.jpg',
    '%2e%2e.png',
  ),
)

/** An unexpected parameter name. */
const queryKey = fc.oneof(
  fc.constantFrom(...KEYS, '%00', '%ed%a0%80', '', '%', '&', 'x'.repeat(3_000)),
  hostileText.map((text) => encoded(text.slice(0, 300))),
)

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

/** Values that requests may use. */
export interface Known {
  /** Tokens of operators. */
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
