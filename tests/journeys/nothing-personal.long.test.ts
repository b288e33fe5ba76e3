/**
 * Personal data do not leak: whatever is requested and whatever fails, no log line, error response, metric or
 * alert contains what a person has sent.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Redis } from 'ioredis'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { ServiceName } from '#shared/contracts/endpoint.ts'
import { withoutReferences } from '#tests/tools/fuzz/references.ts'
import type { Description, Operation } from '#tests/tools/fuzz/requests.ts'
import { UNLIMITED } from '#tests/tools/fuzz/fuzz.ts'
import { chunk, png } from '#tests/feedback-media/pictures.ts'
import { LINE_SECRET, LINE_TOKEN, lineUser } from '#tests/helpers/line-server.ts'
import { newDirectory, type Server } from '#tests/helpers/process.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { admin, flushed, setStatus } from '#tests/helpers/test-stack.ts'
import { type OwnedTestStack, openOwnedTestStack, recovered } from '#tests/helpers/test-stack-real.ts'
import type { Schema } from '#tests/tools/fuzz/schema.ts'
import { lineEvent, signatureOf, textEvent } from '../helpers/line-webhook.ts'

/** Values in place of personal data; a search finds each of them in any text. */
interface Markers {
  /** 32 hexadecimal digits; prefixed with U, a LINE user id. */
  readonly text: string
  /** Digits. */
  readonly phone: string
  readonly lat: number
  readonly lng: number
}

interface MarkedRequest {
  /** `POST /api/event/checkin`. */
  readonly operation: string
  readonly path: string
  readonly init: RequestInit
}

/** Markers that no other test uses. */
function newMarkers(): Markers {
  const digits = (count: number) => String(Math.random()).slice(2, 2 + count)
  return {
    text: crypto.randomUUID().replaceAll('-', ''),
    phone: `09${digits(10)}`,
    lat: Number(`24.1${digits(9)}7`),
    lng: Number(`120.6${digits(9)}7`),
  }
}

/** The texts to search for. */
const traces = ({ text, phone, lat, lng }: Markers): string[] => [text, phone, `${lat}`, `${lng}`]

const userIdOf = ({ text }: Markers): string => `U${text}`

/** Values of fields whose schema alone does not determine a valid one. */
function named(name: string, markers: Markers): unknown {
  const { text, phone, lat, lng } = markers
  const point = { lat, lng, timestamp: Date.now() - 60_000, source: text }
  const values: Record<string, unknown> = {
    user_id: userIdOf(markers),
    userId: userIdOf(markers),
    user_ids: [userIdOf(markers)],
    file: `${userIdOf(markers)}.png`,
    phone,
    lat,
    lng,
    timestamp: new Date().toISOString(),
    points: [point],
    track_points: [point],
    gps_points: [point],
    survey: { q1: text, [`q2_${text.slice(0, 20)}`]: [text] },
    bbox: `${lng},${lat},${lng},${lat}`,
    limit: '5',
    status: 'active',
  }
  return values[name]
}

/** A value that the schema allows, with the marker wherever it fits. */
function valueOf(name: string, schema: Schema, markers: Markers): unknown {
  const known = named(name, markers)
  if (known !== undefined) return known
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  const alternatives = schema.anyOf?.filter(({ type }) => type !== 'null')
  if (alternatives !== undefined) return valueOf('', alternatives[0] ?? {}, markers)
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0]
  if (type === 'boolean') return true
  if (type === 'number' || type === 'integer') return Math.max(schema.minimum ?? 1, 1)
  if (type === 'array') return [valueOf('', schema.items ?? {}, markers)]
  if (type === 'object' || schema.properties !== undefined) return objectOf(schema, markers)
  if (schema.format === 'date-time') return new Date().toISOString()
  if (schema.format === 'uri') return `https://example.org/${markers.text}`
  const { pattern, maxLength = 100 } = schema
  const candidates = [markers.text, '1', '12', `https://example.org/${markers.text}`]
  const fitting = candidates.find((one) => pattern === undefined || new RegExp(pattern).test(one))
  return (fitting ?? markers.text).slice(0, maxLength)
}

const objectOf = ({ properties = {} }: Schema, markers: Markers): Record<string, unknown> => ({
  ...Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, valueOf(name, schema, markers)]),
  ),
  // An unknown field: its name and its value.
  [`x-${markers.text}`]: markers.text,
})

/** Headers that clients send on their own. */
const headersOf = ({ text, phone }: Markers): Record<string, string> => ({
  'Content-Type': 'application/json',
  'X-Line-User-Id': `U${text}`,
  'X-User-Id': `U${text}`,
  'User-Agent': `Phone of ${text}`,
  Authorization: `Bearer ${text}`,
  Cookie: `phone=${phone}; name=${text}`,
  Referer: `https://example.org/${text}?phone=${phone}`,
  'X-Forwarded-For': text,
  'X-Request-Id': `"${text}"`,
})

/** A picture whose metadata names its author. */
const picture = ({ text }: Markers): Uint8Array<ArrayBuffer> =>
  png(1, 1, [chunk('tEXt', Buffer.from(`Author\0${text}`))])

type Parts = Pick<RequestInit, 'body' | 'headers'>

function webhooks(markers: Markers): Parts[] {
  const userId = userIdOf(markers)
  const events = [
    textEvent(userId, `level ${markers.text}`, { replyToken: markers.text }),
    lineEvent(userId, { type: 'follow' }),
    lineEvent(userId, { type: 'message', message: { type: 'image', id: markers.text } }),
    lineEvent(userId, { type: 'postback', postback: { data: `action=level&x=${markers.text}` } }),
    { type: { [markers.text]: markers.text }, webhookEventId: [markers.text] },
  ]
  const body = JSON.stringify({ destination: markers.text, events })
  return [signatureOf(body), markers.text].map((signature) => ({
    body,
    headers: { 'X-Line-Signature': signature },
  }))
}

function uploads(markers: Markers): Parts[] {
  const bytes = picture(markers)
  const form = new FormData()
  form.set(markers.text, new File([bytes], `${markers.text}.png`))
  return [
    { body: bytes, headers: { 'Content-Type': 'image/png' } },
    { body: form, headers: {} },
    { body: JSON.stringify({ image: bytes.toBase64() }) },
    { body: JSON.stringify({ image: markers.text }) },
    { body: Buffer.concat([bytes.subarray(0, 40), Buffer.from(markers.text)]), headers: {} },
  ]
}

/** Bodies of an operation: a valid one, and for each field one in which that field has a wrong type. */
function bodiesOf(path: string, { requestBody }: Operation, markers: Markers): Parts[] {
  if (path.endsWith('/webhook')) return webhooks(markers)
  const schema = requestBody?.content['application/json']?.schema
  if (requestBody !== undefined && (schema === undefined || path.endsWith('/feedback-upload')))
    return uploads(markers)
  if (schema === undefined) return [{}]
  const right = valueOf('', schema, markers) as Record<string, unknown>
  const wrong = Object.keys(right).map((name) => ({ ...right, [name]: { [markers.text]: [markers.text] } }))
  const bodies = [right, ...wrong].map((body) => ({ body: JSON.stringify(body) }))
  return [...bodies, { body: `{"user_id": ${markers.text}` }]
}

function targetsOf(path: string, { parameters }: Operation, markers: Markers): string[] {
  const filled = (value: (name: string, schema: Schema) => unknown) => {
    const query = new URLSearchParams()
    let target = path
    for (const { name, in: place, schema } of parameters)
      if (place === 'header') continue
      else if (place === 'path')
        target = target.replace(`{${name}}`, encodeURIComponent(String(value(name, schema))))
      else query.set(name, String(value(name, schema)))
    return query.size === 0 ? target : `${target}?${query}`
  }
  const right = filled((name, schema) => valueOf(name, schema, markers))
  return [...new Set([right, filled(() => markers.text), `${right}#${markers.text}`.replace('#', '?x=')])]
}

/**
 * Requests of every operation of the document, erasures last.
 * @param token an operator's token; requests with a wrong token are made too
 */
function markedRequests(document: Description, markers: Markers, token: () => string): MarkedRequest[] {
  const all = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation,
    })),
  )
  const requests = all.flatMap(({ path, method, operation }) => {
    const bodies = bodiesOf(path, operation, markers)
    const targets = targetsOf(path, operation, markers)
    const pairs = [
      ...bodies.map((body) => ({ body, target: targets[0]! })),
      ...targets.map((target) => ({ body: bodies[0]!, target })),
    ]
    return pairs.map(({ body, target }, i): MarkedRequest => {
      const last = i === pairs.length - 1 && pairs.length > 2
      const headers = new Headers({ ...headersOf(markers), 'X-Admin-Token': last ? markers.text : token() })
      // A form sets its own content type, with its boundary.
      if (body.body instanceof FormData) headers.delete('Content-Type')
      for (const [name, value] of new Headers(body.headers)) headers.set(name, value)
      return {
        operation: `${method} ${path}`,
        path: target,
        init: { ...body, method, headers },
      }
    })
  })
  return requests.sort((a, b) => Number(a.init.method === 'DELETE') - Number(b.init.method === 'DELETE'))
}

/**
 * Starts a LINE that rejects every request and quotes it. `alerts` are the requests to the owner about the
 * service.
 */
function startQuotingLine(owner: string) {
  const alerts: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = await request.text()
      // An SOS names its pilgrim to the organisers on purpose.
      if (body.includes(owner) && !body.includes('🆘')) alerts.push(body)
      const message = `The property in the request body is invalid: ${body} of ${request.url}`
      return Response.json({ message, details: [{ message: body, property: body }] }, { status: 400 })
    },
  })
  return { server, alerts, url: `http://127.0.0.1:${server.port}` }
}

const ROOT = join(import.meta.dir, '../..')
const OWNER = lineUser(1)
const AT_ONCE = 12
const TIMEOUT_MS = 30_000
const ROUND_MS = 90_000
/** Operations that end the event are sent in the last round only. */
const END = 'POST /api/event/admin/end-activity'

interface Composed {
  readonly services: Record<string, { readonly command?: string | readonly string[] } | undefined>
}

/** The stores are started with the same arguments as the containers, except for the password. */
function storesAsComposed() {
  const { services } = Bun.YAML.parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')) as Composed
  const ofPostgres = services.postgres?.command ?? []
  const ofRedis = services.redis?.command as string
  return {
    postgresArgs: (ofPostgres as readonly string[]).slice(1).map((setting) => setting.replace(/^-c/, '')),
    redisArgs: ofRedis
      .replace(/--requirepass \$\{[^}]*\}/, '')
      .split(/\s+/)
      .slice(1)
      .map((word) => word.replace(/^''$/, '').replace(/^\$\{\w+:-(.*)\}$/, '$1')),
  }
}

describeOnServers('nothing personal', () => {
  const markers = newMarkers()
  const line = startQuotingLine(OWNER)
  const failures: string[] = []
  let stack: OwnedTestStack
  let sql: postgres.Sql
  let requests: readonly MarkedRequest[]
  let objects: string

  beforeAll(async () => {
    objects = join(await newDirectory('objects'), 'objects')
    stack = await openOwnedTestStack({
      ...storesAsComposed(),
      settings: {
        ...UNLIMITED,
        OBJECTS_URL: `file:${objects}`,
        LINE_CHANNEL_SECRET: LINE_SECRET,
        LINE_CHANNEL_ACCESS_TOKEN: LINE_TOKEN,
        LINE_API_BASE_URL: line.url,
        LINE_DATA_API_BASE_URL: line.url,
        EVENT_ALERT_USER_ID: OWNER,
      },
    })
    sql = postgres(stack.databaseUrl, { max: 1, onnotice: () => undefined })
    const described = (await (await stack.fetch('/api/event/openapi.json')).json()) as Description
    requests = markedRequests(withoutReferences(described), markers, () => admin('owner')['X-Admin-Token'])
  })
  afterAll(async () => {
    await line.server.stop(true)
    await sql?.end({ timeout: 1 })
    await stack?.close()
  })

  /** Sends one, and records its answer unless it only refuses the request. */
  const send = async ({ operation, path, init }: MarkedRequest): Promise<void> => {
    // Not with the stack's fetch, which would check the response against the OpenAPI document.
    const answer = await fetch(`https://localhost:${stack.port}${path}`, {
      ...init,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      tls: { ca: stack.ca },
    })
    if (operation.endsWith('/stream')) {
      await answer.body?.cancel()
      return
    }
    // An export in progress ends early when its store goes down.
    const text = await answer.text().catch((error: unknown) => String(error))
    if (answer.status >= 500) failures.push(`${operation}: ${text} ${JSON.stringify([...answer.headers])}`)
  }
  const sendAll = async (wanted: readonly MarkedRequest[]): Promise<void> => {
    const waiting = [...wanted]
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await send(next)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  }
  /** Without a kv or a service each request takes long, so each operation is sent once, in its valid form. */
  const round = async (what: string): Promise<void> => {
    const first = (request: MarkedRequest) =>
      requests.find(({ operation }) => operation === request.operation) === request
    const wanted = /Redis|a service/.test(what) ? requests.filter(first) : requests
    await sendAll(wanted.filter(({ operation }) => operation !== END))
  }
  /** Waits until all stores are up again and pending points are stored. */
  const mended = async (): Promise<void> => {
    await recovered(stack)
    expect((await setStatus(stack, { status: 'active' })).status).toBe(200)
    await flushed(stack)
  }

  const everyTable = async (statement: (table: string) => string): Promise<void> => {
    const tables = await sql<{ name: string }[]>`
      SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition`
    for (const { name } of tables) await sql.unsafe(statement(name))
  }

  /** Everything written so far, by any process, that contains a marker. */
  const found = async (): Promise<string[]> => {
    const stores: [string, Server][] = [
      ['postgres', stack.postgres],
      ['redis', stack.redis],
      ['nats', stack.nats],
      ['caddy', stack.caddy],
    ]
    const services = ServiceName.options.map((name): [string, Server] => [name, stack.service(name)])
    const replica: [string, Server] = ['tracking 2', stack.service('tracking', 1)]
    const logs = [...stores, ...services, replica].map(
      ([name, { dir }]) => [name, readFileSync(join(dir, 'server.log'), 'utf8')] as const,
    )
    const figures = await Promise.all(
      services.map(
        async ([name, { url }]) =>
          [`${name} /metrics`, await (await fetch(`${url}/metrics`)).text()] as const,
      ),
    )
    const all = [
      ...logs,
      ...figures,
      ['answers', failures.join('\n')],
      ['alerts', line.alerts.join('\n')],
    ] as const
    return all.flatMap(([name, text]) => {
      const lines = text.split('\n').filter((one) => traces(markers).some((trace) => one.includes(trace)))
      return lines.slice(0, 3).map((one) => `${name} (${lines.length} lines): ${one.slice(0, 700)}`)
    })
  }

  const BROKEN: readonly (readonly [
    what: string,
    breaking: () => Promise<unknown>,
    mending: () => Promise<unknown>,
  ])[] = [
    ['nothing', async () => undefined, async () => undefined],
    [
      'Postgres, which refuses each row',
      () => everyTable((table) => `ALTER TABLE ${table} ADD CONSTRAINT nothing CHECK (false) NOT VALID`),
      () => everyTable((table) => `ALTER TABLE ${table} DROP CONSTRAINT nothing`),
    ],
    [
      'Postgres, which quotes what it does not take',
      async () => {
        await sql.unsafe(`CREATE FUNCTION quote() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          RAISE EXCEPTION 'invalid input: %', NEW USING ERRCODE = '22P02', DETAIL = NEW::text, HINT = NEW::text; END $$`)
        await everyTable(
          (table) =>
            `CREATE TRIGGER quote BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION quote()`,
        )
      },
      () => sql.unsafe('DROP FUNCTION quote CASCADE'),
    ],
    ['Postgres', () => stack.postgres.stop(), () => stack.postgres.restart()],
    [
      'Redis, which holds something else than it should',
      () =>
        inRedis(async (redis) => {
          await redis.flushdb()
          await redis.set('{gps:0}:pending', 'x')
        }),
      () => inRedis((redis) => redis.flushdb()),
    ],
    [
      'Redis, which is full',
      () => inRedis((redis) => redis.config('SET', 'maxmemory', '1')),
      () => inRedis((redis) => redis.config('SET', 'maxmemory', '1gb')),
    ],
    ['Redis', () => stack.redis.stop(), () => stack.redis.restart()],
    ['NATS', () => stack.nats.stop(), () => stack.nats.restart()],
    [
      'a service behind Caddy',
      () => stack.service('survey-profile').stop(),
      () => stack.service('survey-profile').restart(),
    ],
    [
      'the store of objects',
      async () => {
        renameSync(objects, `${objects}-away`)
        writeFileSync(objects, '')
      },
      async () => {
        rmSync(objects)
        renameSync(`${objects}-away`, objects)
      },
    ],
  ]
  const inRedis = async <T>(work: (redis: Redis) => Promise<T>): Promise<void> => {
    const redis = new Redis(stack.redisUrl)
    await work(redis)
    redis.disconnect()
  }

  test.each(BROKEN)(
    'leaves while this is broken: %s',
    async (what, breaking, mending) => {
      await breaking()
      try {
        await round(what)
      } finally {
        await mending()
      }
      await mended()
      expect(await found()).toEqual([])
    },
    ROUND_MS,
  )

  test(
    'leaves at the end of the event',
    async () => {
      await sendAll(requests.filter(({ operation }) => operation === END))
      expect(await found()).toEqual([])
    },
    ROUND_MS,
  )
})
