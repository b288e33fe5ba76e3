/** What goes on while a part is away, and that everything comes back by itself: no service is restarted here. */
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
  admin,
  checkIn,
  flushed,
  healthOf,
  newPilgrim,
  PLACE,
  setStatus,
  syncTrack,
} from '#tests/helpers/test-stack.ts'
import { type FragileWorld, journaled, openFragileWorld, recovered } from '#tests/helpers/test-stack-real.ts'
import { WORLD_MS } from '#tests/helpers/open-test-stack.ts'

const RECOVERY_MS = 30_000
const TEST_MS = 90_000

describeOnServers('an outage', () => {
  let world: FragileWorld
  let sql: postgres.Sql
  beforeAll(async () => {
    world = await openFragileWorld()
    sql = postgres(world.databaseUrl, { max: 1, onnotice: () => undefined })
  }, WORLD_MS)
  afterAll(async () => {
    await sql.end({ timeout: 1 })
    await world.close()
  }, WORLD_MS)
  afterEach(async () => {
    // A test that fails in the middle must not be the reason why the next ones do.
    for (const store of [world.postgres, world.redis, world.nats]) await store.restart()
    await recovered(world)
  }, WORLD_MS)

  const point = () => ({ ...PLACE, timestamp: Date.now() - 1_000 })
  const profile = (userId: string) => world.fetch(`/api/event/user/${userId}`)
  const unavailable = (answer: Response) => sentenceOf(answer, 503, 'unavailable')

  /** Check-ins of new pilgrims, each of which must be answered 202, promptly. */
  const checkInAll = async (count: number): Promise<string[]> => {
    const pilgrims = Array.from({ length: count }, newPilgrim)
    for (const userId of pilgrims) {
      const started = performance.now()
      expect(await dataOf(await checkIn(world, userId), checkInEndpoint)).toMatchObject({ duplicate: false })
      expect(performance.now() - started).toBeLessThan(8_000)
    }
    return pilgrims
  }

  /** Each pilgrim's one check-in is in the table, once. */
  const expectStored = async (pilgrims: readonly string[]) => {
    await flushed(world)
    const rows = await sql<{ user_id: string; points: number }[]>`
      SELECT user_id, count(*)::int AS points FROM gps_points
      WHERE user_id = ANY(${pilgrims as string[]}) AND kind = 'c' GROUP BY user_id`
    expect(rows.map((row) => row.points)).toEqual(pilgrims.map(() => 1))
    const [last] = pilgrims.slice(-1)
    expect(await dataOf(await profile(last!), profileEndpoint)).toMatchObject({ checkins: 1 })
  }

  test(
    'of the kv: check-ins are taken by the journal, and all of them are there afterwards',
    async () => {
      const before = newPilgrim()
      await dataOf(await checkIn(world, before), checkInEndpoint)
      await flushed(world)
      await world.redis.stop()
      const pilgrims = await checkInAll(40)
      expect(await journaled(world)).toBe(40)
      await unavailable(await syncTrack(world, before, [point()]))
      const marked = { checkins: 1, pending: null }
      expect(await dataOf(await profile(before), profileEndpoint)).toMatchObject(marked)
      await sentenceOf(await checkIn(world, newPilgrim(), { lat: 91 }), 400, 'invalid-request')
      // Each replica limits by itself meanwhile.
      const restless = newPilgrim()
      const statuses: number[] = []
      for (let i = 0; i < 12; i++)
        statuses.push((await checkIn(world, restless, { timestamp: Date.now() - i * 1_000 })).status)
      expect(statuses.slice(0, 5)).toEqual([202, 202, 202, 202, 202])
      expect(statuses.filter((status) => status === 202).length).toBeWithin(5, 11)
      expect(new Set(statuses)).toEqual(new Set([202, 429]))
      expect(await healthOf(world)).toMatchObject({ status: 'error', db: 'ok', kv: 'error' })
      expect((await world.fetch('/health')).status).toBe(503)
      expect((await world.fetch('/api/event/auth/role', { headers: admin('volunteer') })).status).toBe(200)

      await world.redis.restart()
      await recovered(world)
      await dataOf(await syncTrack(world, before, [point()]), trackSyncEndpoint)
      await expectStored([before, ...pilgrims])
    },
    TEST_MS,
  )

  test(
    'of a kv that hangs: the same',
    async () => {
      world.redis.pause()
      const pilgrims = await checkInAll(10)
      await unavailable(await syncTrack(world, newPilgrim(), [point()]))
      world.redis.resume()
      await recovered(world)
      await expectStored(pilgrims)
    },
    TEST_MS,
  )

  test(
    'of the kv at the start of a service: check-ins are taken by the status of the database',
    async () => {
      await world.redis.stop()
      await world.service('tracking', 0).restart()
      await world.service('tracking', 1).restart()
      const pilgrims = await checkInAll(4)
      await world.redis.restart()
      await recovered(world)
      await expectStored(pilgrims)
    },
    TEST_MS,
  )

  test(
    'of the kv while an operator pauses: told so, and it holds as soon as the kv is back',
    async () => {
      await world.redis.stop()
      expect(await unavailable(await setStatus(world, { status: 'paused' }))).toContain('stored')
      await world.redis.restart()
      const refused = async () => (await checkIn(world, newPilgrim())).status === 403
      await until(refused, { timeoutMs: RECOVERY_MS, what: 'the pause to be known', everyMs: 200 })
      await dataOf(await setStatus(world, { status: 'active' }), setStatusEndpoint)
      await checkInAll(2)
    },
    TEST_MS,
  )

  test(
    'of the database: check-ins, tracks and the map do not notice, what needs it says so',
    async () => {
      const known = newPilgrim()
      await dataOf(await checkIn(world, known), checkInEndpoint)
      await world.postgres.stop()
      const pilgrims = await checkInAll(10)
      for (const userId of pilgrims)
        await dataOf(await syncTrack(world, userId, [point()]), trackSyncEndpoint)
      await dataOf(await world.fetch('/api/event/data'), dataEndpoint)
      const shown = async () => {
        const map = await world.fetch('/api/event/data', { headers: admin('owner') })
        return (await dataOf(map, dataEndpoint)).points.map(({ userId }) => userId)
      }
      await until(async () => (await shown()).includes(known), {
        timeoutMs: 15_000,
        what: 'the map to show who checked in last',
      })
      await unavailable(await profile(known))
      await unavailable(await setStatus(world, { status: 'paused' }))
      await unavailable(await world.fetch('/api/event/admin/status', { headers: admin('owner') }))
      // A report may be a second old.
      await until(async () => (await healthOf(world)).db === 'error', {
        timeoutMs: 15_000,
        what: 'the report',
      })
      expect(await healthOf(world)).toMatchObject({ status: 'error', db: 'error', kv: 'ok' })

      await world.postgres.restart()
      await recovered(world)
      await expectStored([known, ...pilgrims])
      await dataOf(
        await world.fetch('/api/event/admin/status', { headers: admin('owner') }),
        readStatusEndpoint,
      )
    },
    TEST_MS,
  )

  test(
    'of a database that hangs: check-ins, tracks and the map do not notice',
    async () => {
      world.postgres.pause()
      const pilgrims = await checkInAll(3)
      await dataOf(await syncTrack(world, pilgrims[0]!, [point()]), trackSyncEndpoint)
      const started = performance.now()
      await dataOf(await world.fetch('/api/event/data', { headers: admin('owner') }), dataEndpoint)
      expect(performance.now() - started).toBeLessThan(8_000)
      world.postgres.resume()
      await recovered(world)
      await expectStored(pilgrims)
    },
    TEST_MS,
  )

  test(
    'of the bus: a change of status holds all the same',
    async () => {
      await world.nats.stop()
      await dataOf(await setStatus(world, { status: 'paused' }), setStatusEndpoint)
      await sentenceOf(await checkIn(world, newPilgrim()), 403, 'paused')
      await dataOf(await setStatus(world, { status: 'active' }), setStatusEndpoint)
      await checkInAll(2)
      await world.nats.restart()
      const handled = async () => (await unhandledEvents(sql, ['admin.spread-status'])).length === 0
      await until(handled, { timeoutMs: RECOVERY_MS, what: 'every change of status to be handled' })
    },
    TEST_MS,
  )

  test(
    'of a service: the proxy says so in the API’s own words',
    async () => {
      const { pid } = world.service('admin')
      await world.service('survey-profile').stop()
      await unavailable(await profile(newPilgrim()))
      await checkInAll(2)
      await world.service('survey-profile').restart()
      await sentenceOf(await profile(newPilgrim()), 404, 'not-found')
      expect(world.service('admin').pid).toBe(pid)
    },
    TEST_MS,
  )

  test(
    'of one replica of tracking: the other one takes all of it; of both: 503',
    async () => {
      const [first, second] = [world.service('tracking', 0), world.service('tracking', 1)]
      await first.stop('SIGKILL')
      // What goes out on a connection that is just breaking is answered 503, and sent again by the phone.
      const sender = newPilgrim()
      await until(async () => (await checkIn(world, sender)).status === 202, {
        timeoutMs: 15_000,
        what: 'the other replica to take a check-in',
      })
      const pilgrims = [sender, ...(await checkInAll(20))]
      await second.stop()
      await unavailable(await checkIn(world, newPilgrim()))
      await first.restart()
      pilgrims.push(...(await checkInAll(2)))
      await second.restart()
      await expectStored(pilgrims)
    },
    TEST_MS,
  )
})
