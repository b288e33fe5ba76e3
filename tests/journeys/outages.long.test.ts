/** The service during the outage of a part, and its recovery without any restart. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { unhandledEvents } from '#tests/helpers/unhandled-events.ts'
import { readStatusEndpoint, setStatusEndpoint } from '#shared/contracts/operations.ts'
import { profileEndpoint } from '#shared/contracts/profile.ts'
import { checkInEndpoint, dataEndpoint, trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import {
  checkIn,
  flushed,
  healthOf,
  newPilgrimId,
  PLACE,
  readAs,
  setStatus,
  syncTrack,
} from '#tests/helpers/test-stack.ts'
import type { OwnedTestStack } from '#tests/helpers/test-stack-real.ts'
import { journaled, openOwnedTestStack, recovered } from '#tests/helpers/test-stack-real.ts'

const [RECOVERY_MS, TEST_MS] = [30_000, 90_000]

describeOnServers('an outage', () => {
  let stack: OwnedTestStack
  let sql: postgres.Sql
  beforeAll(async () => {
    stack = await openOwnedTestStack()
    sql = postgres(stack.databaseUrl, { max: 1, onnotice: () => undefined })
  })
  afterAll(async () => {
    await sql?.end({ timeout: 1 })
    await stack?.close()
  })
  afterEach(async () => {
    // The failure of one test must not make the next ones fail.
    for (const store of [stack.postgres, stack.redis, stack.nats]) await store.restart()
    await recovered(stack)
  })

  const point = () => ({ ...PLACE, timestamp: Date.now() - 1_000 })
  const profile = (userId: string) => stack.fetch(`/api/event/user/${userId}`)
  const unavailable = (answer: Response) => sentenceOf(answer, 503, 'unavailable')

  /** Check-ins of new pilgrims, each of which must get a 202 promptly. */
  const checkInAll = async (count: number): Promise<string[]> => {
    const pilgrims = Array.from({ length: count }, newPilgrimId)
    for (const userId of pilgrims) {
      const started = performance.now()
      expect(await dataOf(await checkIn(stack, userId), checkInEndpoint)).toMatchObject({ duplicate: false })
      expect(performance.now() - started).toBeLessThan(8_000)
    }
    return pilgrims
  }

  /** Each pilgrim's one check-in is in the table, once. */
  const expectStored = async (pilgrims: readonly string[]) => {
    await flushed(stack)
    const rows = await sql<{ user_id: string; points: number }[]>`
      SELECT user_id, count(*)::int AS points FROM gps_points
      WHERE user_id = ANY(${pilgrims as string[]}) AND kind = 'c' GROUP BY user_id`
    expect(rows.map((row) => row.points)).toEqual(pilgrims.map(() => 1))
    const [last] = pilgrims.slice(-1)
    expect(await dataOf(await profile(last!), profileEndpoint)).toMatchObject({ checkins: 1 })
  }

  /** The health report's probes are cached for a second. */
  const reported = (part: 'db' | 'kv') =>
    until(async () => (await healthOf(stack))[part] === 'error', 'the report')

  test(
    'of the kv: check-ins are taken by the journal, and all of them are there afterwards',
    async () => {
      const before = newPilgrimId()
      await dataOf(await checkIn(stack, before), checkInEndpoint)
      await flushed(stack)
      await stack.redis.stop()
      const pilgrims = await checkInAll(40)
      expect(await journaled(stack)).toBe(40)
      await unavailable(await syncTrack(stack, before, [point()]))
      const marked = { checkins: 1, pending: null }
      expect(await dataOf(await profile(before), profileEndpoint)).toMatchObject(marked)
      await sentenceOf(await checkIn(stack, newPilgrimId(), { lat: 91 }), 400, 'invalid-request')
      // Each replica has its own rate limit during the outage.
      const restless = newPilgrimId()
      const statuses: number[] = []
      for (let i = 0; i < 12; i++)
        statuses.push((await checkIn(stack, restless, { timestamp: Date.now() - i * 1_000 })).status)
      expect(statuses.slice(0, 5)).toEqual([202, 202, 202, 202, 202])
      expect(statuses.filter((status) => status === 202).length).toBeWithin(5, 11)
      expect(new Set(statuses)).toEqual(new Set([202, 429]))
      await reported('kv')
      expect(await healthOf(stack)).toMatchObject({ status: 'error', db: 'ok', kv: 'error' })
      expect((await stack.fetch('/health')).status).toBe(503)
      expect((await readAs(stack, 'volunteer', 'auth/role')).status).toBe(200)

      await stack.redis.restart()
      await recovered(stack)
      await dataOf(await syncTrack(stack, before, [point()]), trackSyncEndpoint)
      await expectStored([before, ...pilgrims])
    },
    TEST_MS,
  )

  test(
    'of a kv that hangs: the same',
    async () => {
      stack.redis.pause()
      const pilgrims = await checkInAll(10)
      await unavailable(await syncTrack(stack, newPilgrimId(), [point()]))
      stack.redis.resume()
      await recovered(stack)
      await expectStored(pilgrims)
    },
    TEST_MS,
  )

  test(
    'of the kv at the start of a service: check-ins are taken by the status of the database',
    async () => {
      await stack.redis.stop()
      await stack.service('tracking', 0).restart()
      await stack.service('tracking', 1).restart()
      const pilgrims = await checkInAll(4)
      await stack.redis.restart()
      await recovered(stack)
      await expectStored(pilgrims)
    },
    TEST_MS,
  )

  test(
    'of the kv while an operator pauses: told so, and it holds as soon as the kv is back',
    async () => {
      await stack.redis.stop()
      expect(await unavailable(await setStatus(stack, { status: 'paused' }))).toContain('stored')
      await stack.redis.restart()
      const refused = async () => (await checkIn(stack, newPilgrimId())).status === 403
      await until(refused, 'the pause to be known', { timeoutMs: RECOVERY_MS })
      await recovered(stack) // The service that resumes, too.
      // The operator's service may recover later than the one that rejects, and reports it.
      const resumed = async () => (await setStatus(stack, { status: 'active' })).ok
      await until(resumed, 'the event to go on', { timeoutMs: RECOVERY_MS })
      await checkInAll(2)
    },
    TEST_MS,
  )

  test(
    'of the database: check-ins, tracks and the map do not notice, what needs it says so',
    async () => {
      const known = newPilgrimId()
      await dataOf(await checkIn(stack, known), checkInEndpoint)
      await stack.postgres.stop()
      const pilgrims = await checkInAll(10)
      for (const userId of pilgrims)
        await dataOf(await syncTrack(stack, userId, [point()]), trackSyncEndpoint)
      await dataOf(await stack.fetch('/api/event/data'), dataEndpoint)
      const shown = async () => {
        const map = await readAs(stack, 'owner', 'data')
        return (await dataOf(map, dataEndpoint)).points.map(({ userId }) => userId)
      }
      const isShown = async () => (await shown()).includes(known)
      await until(isShown, 'the map to show who checked in last')
      await unavailable(await profile(known))
      await unavailable(await setStatus(stack, { status: 'paused' }))
      await unavailable(await readAs(stack, 'owner', 'admin/status'))
      await reported('db')
      expect(await healthOf(stack)).toMatchObject({ status: 'error', db: 'error', kv: 'ok' })

      await stack.postgres.restart()
      await recovered(stack)
      await expectStored([known, ...pilgrims])
      await dataOf(await readAs(stack, 'owner', 'admin/status'), readStatusEndpoint)
    },
    TEST_MS,
  )

  test(
    'of a database that hangs: check-ins, tracks and the map do not notice',
    async () => {
      stack.postgres.pause()
      const pilgrims = await checkInAll(3)
      await dataOf(await syncTrack(stack, pilgrims[0]!, [point()]), trackSyncEndpoint)
      const started = performance.now()
      await dataOf(await readAs(stack, 'owner', 'data'), dataEndpoint)
      expect(performance.now() - started).toBeLessThan(8_000)
      stack.postgres.resume()
      await recovered(stack)
      await expectStored(pilgrims)
    },
    TEST_MS,
  )

  test(
    'of the bus: a change of status holds all the same',
    async () => {
      await stack.nats.stop()
      await dataOf(await setStatus(stack, { status: 'paused' }), setStatusEndpoint)
      await sentenceOf(await checkIn(stack, newPilgrimId()), 403, 'paused')
      await dataOf(await setStatus(stack, { status: 'active' }), setStatusEndpoint)
      await checkInAll(2)
      await stack.nats.restart()
      const handled = async () => (await unhandledEvents(sql, ['admin.spread-status'])).length === 0
      await until(handled, 'every change of status to be handled', { timeoutMs: RECOVERY_MS })
    },
    TEST_MS,
  )

  test(
    'of a service: the proxy says so in the API’s own words',
    async () => {
      const { pid } = stack.service('admin')
      await stack.service('survey-profile').stop()
      await unavailable(await profile(newPilgrimId()))
      await checkInAll(2)
      await stack.service('survey-profile').restart()
      await sentenceOf(await profile(newPilgrimId()), 404, 'not-found')
      expect(stack.service('admin').pid).toBe(pid)
    },
    TEST_MS,
  )

  test(
    'of one replica of tracking: the other one takes all of it; of both: 503',
    async () => {
      const [first, second] = [stack.service('tracking', 0), stack.service('tracking', 1)]
      await first.stop('SIGKILL')
      // A request on a breaking connection gets a 503, and the phone repeats it.
      const sender = newPilgrimId()
      await until(
        async () => (await checkIn(stack, sender)).status === 202,
        'the other replica to take a check-in',
      )
      const pilgrims = [sender, ...(await checkInAll(20))]
      await second.stop()
      await unavailable(await checkIn(stack, newPilgrimId()))
      await first.restart()
      pilgrims.push(...(await checkInAll(2)))
      await second.restart()
      await expectStored(pilgrims)
    },
    TEST_MS,
  )
})
