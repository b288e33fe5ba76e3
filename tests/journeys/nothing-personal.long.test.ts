/**
 * Personal data do not leak: whatever is requested and whatever fails, no log line, error answer, metric or alert
 * contains what a person has sent.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Redis } from 'ioredis'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { ServiceName } from '#shared/contracts/endpoint.ts'
import { withoutReferences } from '#tests/fuzz/references.ts'
import type { Description } from '#tests/fuzz/requests.ts'
import { UNLIMITED } from '#tests/fuzz/fuzz.ts'
import { LINE_SECRET, LINE_TOKEN, lineUser } from '#tests/helpers/line-server.ts'
import { startQuotingLine } from '#tests/helpers/line-server-quoting.ts'
import { markedRequests, type MarkedRequest, newMarkers, traces } from '#tests/helpers/marked-requests.ts'
import { newDirectory, type Server } from '#tests/helpers/process.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { admin, flushed, setStatus } from '#tests/helpers/test-stack.ts'
import { type OwnedTestStack, openOwnedTestStack, recovered } from '#tests/helpers/test-stack-real.ts'
import { STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'

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
  }, STACK_TIMEOUT_MS)
  afterAll(async () => {
    await line.server.stop(true)
    await sql.end({ timeout: 1 })
    await stack.close()
  }, STACK_TIMEOUT_MS)

  /** Sends one, and records its answer unless it only refuses the request. */
  const send = async ({ operation, path, init }: MarkedRequest): Promise<void> => {
    // Not by the stack's fetch, which would check the answer against the OpenAPI document.
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
  /** All stores are up again, and pending points are stored. */
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
