/**
 * Downloads during which a store fails: complete and marked, rejected, or truncated with a line that says so.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { BROKEN_OFF } from '#services/admin/reports/streaming-body.ts'
import { sentenceOf } from '#tests/helpers/answers.ts'
import { STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { type OwnedTestStack, openOwnedTestStack, recovered } from '#tests/helpers/test-stack-real.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import { admin, newAppId } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'

/** About 25 MB as JSON and 9 MB as GPX, in pages. */
const POINTS = 80_000
const SURVEYS = 40_000
const BUSY = 'The service is busy with other long readings: please try again in a moment.'
const OUTAGE_MS = 90_000

const LONG = {
  json: { path: 'admin/users/walker/export', table: 'gps_points', ends: '}' },
  gpx: { path: 'admin/users/walker/export?format=gpx', table: 'gps_points', ends: '</gpx>\n' },
  csv: { path: 'admin/surveys', table: 'surveys', ends: '"\r\n' },
} as const
type Kind = keyof typeof LONG
const KINDS = Object.keys(LONG) as Kind[]

describeOnServers('a download', () => {
  let stack: OwnedTestStack
  const whole = new Map<Kind, number>()

  const headersOf = (csv: boolean) => ({ ...admin('owner'), ...(csv ? { Accept: 'text/csv' } : {}) })
  const ask = (path: string, csv = false): Promise<Response> =>
    stack.fetch(`/api/event/${path}`, { headers: headersOf(csv) })
  /** The response once it begins; checking it against its contract would read it to its end. */
  const begin = (kind: Kind): Promise<Response> =>
    fetch(`https://localhost:${stack.port}/api/event/${LONG[kind].path}`, {
      headers: headersOf(kind === 'csv'),
      tls: { ca: stack.ca },
    })

  /**
   * Blocks readers of a table.
   * @returns resolves once a reader is blocked, with a function that releases them
   */
  async function holdUp(table: string) {
    const sql = postgres(stack.postgres.url, { max: 2, onnotice: () => undefined })
    const released = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const holding = sql
      .begin(async (tx) => {
        await tx.unsafe(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
        held.resolve()
        await released.promise
      })
      // If the server is down, so is its lock.
      .catch(() => undefined)
    await held.promise
    return {
      waiting: () =>
        until(
          async () =>
            (await sql`SELECT FROM pg_locks WHERE NOT granted AND relation = ${table}::regclass`).length > 0,
          `a reader of ${table} to wait`,
        ),
      async release() {
        released.resolve()
        await holding
        await sql.end({ timeout: 1 })
      },
    }
  }

  /** Starts a download, and runs an action halfway. @returns its text */
  async function interrupted(kind: Kind, act: () => Promise<void>): Promise<string> {
    const answer = await begin(kind)
    expect(answer.status).toBe(200)
    const held = holdUp(LONG[kind].table)
    // The server waits for a client that does not read.
    const text = answer.text()
    const hold = await held
    try {
      await hold.waiting()
      await act()
    } finally {
      await hold.release()
    }
    return text
  }

  beforeAll(async () => {
    stack = await openOwnedTestStack()
    await using sql = Object.assign(postgres(stack.postgres.url, { max: 1 }), {
      [Symbol.asyncDispose]: () => sql.end(),
    })
    await sql`
      INSERT INTO pilgrims (user_id, display_name, created_at, updated_at)
      SELECT 'walker' || n, repeat('x', 60), now(), now() FROM generate_series(1, ${SURVEYS}::int) n
      UNION ALL SELECT unnest('{walker,newcomer}'::text[]), NULL, now(), now()`
    await sql`
      INSERT INTO surveys (user_id, answers, revision, submitted_at)
      SELECT 'walker' || n, '{}', 1, now() FROM generate_series(1, ${SURVEYS}::int) n`
    await sql`
      INSERT INTO gps_points (user_id, kind, sent_at, recorded_at, received_at, lat, lng, in_range, clock_corrected)
      SELECT 'walker', 't', t, t, t, 24, 120.5, true, false FROM generate_series(1, ${POINTS}::int) n,
        LATERAL (SELECT date_trunc('day', now()) - n * interval '1 s') AS at (t)`
    // As autovacuum does within a minute.
    await sql`ANALYZE gps_points, surveys, pilgrims`
    for (const kind of KINDS) {
      const text = await (await begin(kind)).text()
      expect(text.endsWith(LONG[kind].ends)).toBe(true)
      whole.set(kind, text.length)
    }
  }, 2 * STACK_TIMEOUT_MS)
  afterEach(async () => {
    await Promise.all([stack.redis.restart(), stack.postgres.restart()])
    await recovered(stack)
    // Health is ok with one connection. A request on another one, which broke with Postgres, gets a 503
    // once.
    const isWhole = async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask('admin/users?limit=1')))
      return answers.every(({ ok }) => ok)
    }
    await until(isWhole, 'every connection to Postgres', { timeoutMs: OUTAGE_MS / 2 })
  }, OUTAGE_MS)
  afterAll(() => stack?.close())

  test.each(KINDS)(
    'is whole when Redis goes in the middle: %s',
    async (kind) => {
      const text = await interrupted(kind, () => stack.redis.stop())
      expect(text.endsWith(LONG[kind].ends)).toBe(true)
      expect(text.length).toBe(whole.get(kind)!)
    },
    OUTAGE_MS,
  )

  test.each(['json', 'gpx'] as const)(
    'says what is missing when Redis went before: %s',
    async (kind) => {
      await stack.redis.stop()
      const text = await (await begin(kind)).text()
      expect(text.endsWith(LONG[kind].ends)).toBe(true)
      if (kind === 'gpx') expect(text).toContain('Incomplete')
      else expect(JSON.parse(text)).toMatchObject({ pending: null })
    },
    OUTAGE_MS,
  )

  test.each(KINDS)(
    'says so in its last line, and in the log, when Postgres goes in the middle: %s',
    async (kind) => {
      const log = () => readFileSync(join(stack.service('admin').dir, 'server.log'), 'utf8')
      const before = log().length
      const text = await interrupted(kind, () => stack.postgres.stop())
      expect(text.length).toBeLessThan(whole.get(kind)!)
      expect(text.slice(-BROKEN_OFF.length)).toBe(BROKEN_OFF)
      const lines = log().slice(before).split('\n')
      expect(lines.filter((line) => line.includes('a download failed on its way'))).toHaveLength(1)
      // Bun's own output is not part of the log.
      expect(lines.filter((line) => line !== '' && !line.startsWith('{'))).toEqual([])
    },
    OUTAGE_MS,
  )

  test.each([
    ['admin/users/newcomer/export', 'surveys'],
    ['admin/users/newcomer/export?format=gpx', 'gps_points'],
    ['admin/surveys', 'surveys'],
  ])(
    'is refused when Postgres goes before anything is answered: %s',
    async (path, table) => {
      const hold = await holdUp(table)
      const asked = ask(path, true)
      const early = asked.then(async (answer) => {
        throw new Error(`answered before anybody waited: ${answer.status} ${await answer.clone().text()}`)
      })
      await Promise.race([hold.waiting(), early])
      await stack.postgres.stop()
      await hold.release()
      await sentenceOf(await asked, 503, 'unavailable')
    },
    OUTAGE_MS,
  )

  test(
    'of more than can be read in time some wait and the others are refused',
    async () => {
      const hold = await holdUp('pilgrims')
      const paths = ['me/walk', 'me/export']
      const asked = Array.from({ length: 60 }, (_, i) => post(stack, paths[i % 2]!, { user_id: newAppId() }))
      const statuses: number[] = []
      for (const answer of asked) void answer.then(({ status }) => statuses.push(status))
      // Two are being read, and fifty wait.
      await until(() => statuses.length === 8, 'the others to be refused')
      expect(new Set(statuses)).toEqual(new Set([503]))
      await hold.release()
      const answers = await Promise.all(asked)
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503, 200, 404]))
      const refused = answers.filter(({ status }) => status === 503)
      for (const { headers } of refused) expect(headers.get('retry-after')).not.toBeNull()
      const sentences = refused.map((answer) => sentenceOf(answer, 503, 'unavailable'))
      expect(await Promise.all(sentences)).toEqual(Array.from({ length: 8 }, () => BUSY))
    },
    OUTAGE_MS,
  )
})
