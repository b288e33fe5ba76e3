/** Check-ins within one millisecond of a stopped clock, and the results of their attached tracks. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { AcceptRules } from '#shared/points/accept.ts'
import { openRedisKv } from '#shared/stores/kv/kv.redis.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { checkIn as checkInVerb } from '#shared/points/check-in.ts'
import { type Replica, startReplica } from '#tests/points/replica.ts'
import { type Server, startRedis } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { type KvDriver, quickKvDrivers, rules as admissionRules } from '#tests/kv/drivers.ts'

const MINUTE_MS = 60_000
const NOW = Date.now()
const iso = (ms: number): string => new Date(ms).toISOString()
const accept: AcceptRules = {
  calendar: createCalendar('Asia/Taipei'),
  area: () => true,
  maxAgeMs: 1e10,
  clearedMs: () => null,
}

const counted: [name: string, points: number][] = []
const rules = {
  ...accept,
  count: (...one: (typeof counted)[0]) => counted.push(one),
  limit: admissionRules().checkin,
}

const checkIn = (replica: Replica, userId: string, fields: object = {}) =>
  checkInVerb(replica, { user_id: userId, lat: 24, lng: 121, ...fields }, NOW, rules)

const newUser = (): string => `U${crypto.randomUUID()}`
const checkIns = async (kv: Kv, userId: string): Promise<number> =>
  (await kv.peek(userId)).filter(({ field }) => field.startsWith('c')).length

/** Five check-ins at one instant: four without a timestamp, and one whose phone's clock equals the server's. */
async function expectFiveTaken(replicas: readonly Replica[], userId: string): Promise<void> {
  const five = [{}, {}, { timestamp: NOW }, {}, {}].map((fields, i) => ({ ...fields, lat: 20 + i }))
  const answers = await Promise.all(
    five.map((fields, i) => checkIn(replicas[i % replicas.length]!, userId, fields)),
  )
  expect(answers.map(({ duplicate }) => duplicate)).toEqual([false, false, false, false, false])
  expect(answers.map(({ clock_corrected }) => clock_corrected)).not.toContain(true)
}

function suite(driver: KvDriver): void {
  describe(`a check-in over ${driver.name}`, () => {
    let kv: Kv
    beforeAll(async () => {
      await driver.start()
      kv = await driver.open()
    })
    afterAll(async () => {
      await kv?.close()
      await driver.stop()
    })

    test('of one millisecond, from several replicas, gets an instant of its own', async () => {
      await using one = await startReplica(kv)
      await using other = await startReplica(kv)
      const userId = newUser()
      await expectFiveTaken([one, other], userId)
      expect(await checkIns(kv, userId)).toBe(5)
    })

    test('without a timestamp at the same place is still a duplicate, and is not answered as a wrong clock', async () => {
      await using replica = await startReplica(kv)
      const userId = newUser()
      const first = await checkIn(replica, userId)
      const again = await checkIn(replica, userId)
      expect(again).toEqual({ ...first, duplicate: true })
    })

    test('answers which of its track points the phone must send again, and allows it to delete none of them', async () => {
      await using replica = await startReplica(kv)
      const points = Array.from({ length: 1_003 }, (_, i) => ({
        lat: 24,
        lng: 121,
        timestamp: NOW - (2_000 - i) * MINUTE_MS,
      }))
      // The last one is older than all the others.
      points[1_002]!.timestamp = NOW - 1_500 * MINUTE_MS
      const track_points = [...points.slice(0, 1_002), 'x', points[1_002]]
      const { track, pending } = await checkIn(replica, newUser(), { track_points })
      expect(pending).toBe(1_001)
      expect(track).toEqual({
        accepted: 1_000,
        duplicates: 0,
        rejected: [
          { index: 1_000, reason: 'too-many' },
          { index: 1_001, reason: 'too-many' },
          { index: 1_002, reason: 'not-an-object' },
          { index: 1_003, reason: 'too-many' },
        ],
        durable_through: iso(NOW - 1_501 * MINUTE_MS),
      })
      expect(counted).toContainEqual(['rejected:too-many', 3])
    })

    test('takes no point of a list that no phone sends, and answers it in less than it came in', async () => {
      await using replica = await startReplica(kv)
      const track_points = [{ lat: 24, lng: 121, timestamp: NOW }, ...Array<number>(40_000).fill(0)]
      const { track, pending } = await checkIn(replica, newUser(), { track_points })
      expect(pending).toBe(1)
      expect(track).toEqual({
        accepted: 0,
        duplicates: 0,
        rejected: [{ index: 0, reason: 'too-many' }],
        durable_through: null,
      })
    })

    test('is accepted when the buffer has no room for its track points, which the phone must keep', async () => {
      await using replica = await startReplica(kv, { rules: admissionRules({ pendingMax: 3 }) })
      const userId = newUser()
      const point = (minutes: number) => ({ lat: 24, lng: 121, timestamp: NOW - minutes * MINUTE_MS })
      const track_points = [point(1), 'x', point(2), point(3)]
      const taken = await checkIn(replica, userId, { track_points })
      expect(taken).toMatchObject({ duplicate: false, pending: 1 })
      expect(taken.track).toEqual({
        accepted: 0,
        duplicates: 0,
        rejected: [
          { index: 0, reason: 'no-room' },
          { index: 1, reason: 'not-an-object' },
          { index: 2, reason: 'no-room' },
          { index: 3, reason: 'no-room' },
        ],
        durable_through: null,
      })
      const next = await checkIn(replica, userId, { lat: 23, track_points: track_points.slice(0, 2) })
      expect(next).toMatchObject({
        pending: 3,
        track: { accepted: 1, durable_through: iso(NOW - MINUTE_MS) },
      })
    })
  })
}
for (const driver of quickKvDrivers()) suite(driver)

describeOnServers('a check-in while the kv is unavailable', () => {
  let server: Server
  let kv: Kv
  beforeAll(async () => {
    server = await startRedis()
    kv = await openRedisKv({ url: server.url, partitions: 1, onError: () => undefined })
  })
  afterAll(async () => {
    await kv?.close()
    await server?.close()
  })

  test('of one millisecond, from the journals of several replicas, is stored with its track', async () => {
    await using one = await startReplica(kv)
    await using other = await startReplica(kv)
    const userId = newUser()
    const [walker, track] = [newUser(), { lat: 24, lng: 121, timestamp: NOW - MINUTE_MS }]
    await server.stop('SIGKILL')
    try {
      await expectFiveTaken([one, other], userId)
      expect(one.journaled() + other.journaled()).toBe(5)
      const taken = await checkIn(one, walker, { track_points: [track, {}] })
      expect(taken.track).toEqual({
        accepted: 1,
        duplicates: 0,
        rejected: [{ index: 1, reason: 'no-timestamp' }],
        durable_through: iso(track.timestamp),
      })
    } finally {
      await server.restart()
    }
    await until(() => one.journaled() + other.journaled() === 0, 'the replay')
    expect(await checkIns(kv, userId)).toBe(5)
    expect((await kv.peek(walker)).map(({ field }) => field).sort()).toEqual([
      `c${NOW}`,
      `t${track.timestamp}`,
    ])
  })
})
