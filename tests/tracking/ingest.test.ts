/** Responses to a tracker app in each state of the event and of the buffer, and the ledger's counts. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ingest } from '#services/tracking/ingest/serve-ingest.ts'
import { NO_POINT, type Received } from '#services/tracking/ingest/tracker-formats.ts'
import type { SosPress } from '#shared/contracts/emergencies.ts'
import { trackerKeyHash } from '#shared/pilgrims/tracker-keys.ts'
import type { SyncRules } from '#shared/points/sync-track.ts'
import { Refusal, temporaryAs503, unavailable } from '#shared/runtime/refusal.ts'
import type { Kv, Submission, VersionedStatus } from '#shared/stores/kv/kv.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { type Replica, startReplica } from '#tests/points/replica.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { type KvDriver, quickKvDrivers, rules } from '#tests/kv/drivers.ts'

const NOW = Date.now()
const REQUEST = new Request('http://localhost/')
const point = (secondsAgo: number) => ({
  lat: 24,
  lng: 121,
  timestamp: NOW - secondsAgo * 1_000,
  source: 'overland',
})
const batch = (count: number): Received => ({
  points: Array.from({ length: count }, (_, i) => point(1 + i)),
  refused: [],
})

function suite(driver: KvDriver): void {
  describe(`a request of a tracker app over ${driver.name}`, () => {
    let kv: Kv
    beforeAll(async () => {
      await driver.start()
      kv = await driver.open()
    })
    afterAll(async () => {
      await kv?.close()
      await driver.stop()
    })

    let version = 0
    const setStatus = (status: VersionedStatus['status'], message: string | null = null) =>
      kv.setStatus({ status, version: ++version, message })

    /** Sends an app's request. @returns the response, the counts, and the pilgrim's points in the buffer */
    const send = async (
      replica: Replica,
      received: Received,
      userId = `U${crypto.randomUUID()}`,
      nowMs = NOW,
      noteAhead = async (): Promise<number | null> => null,
    ) => {
      const counts: Record<string, number> = {}
      const syncRules: SyncRules = {
        calendar: createCalendar('Asia/Taipei'),
        area: () => true,
        maxAgeMs: 1e10,
        clearedMs: () => null,
        limit: rules().ingest,
        count: (name, points) => (counts[name] = (counts[name] ?? 0) + points),
      }
      const taking = {
        admit: () => (submission: Submission) => replica.admitDurably(submission),
        presses: { keep: async () => null },
        findKey: async () => userId,
        noteUse: () => undefined,
        noteAhead,
        rules: syncRules,
        isClaim: () => false,
        now: () => nowMs,
        chargeAlarm: () => undefined,
      }
      const call = ingest(taking, 'overland', 'key', () => received, REQUEST)
      const answer = await call.catch((error: unknown) => temporaryAs503(error))
      const pending = (await kv.peek(userId)).length
      return { answer: answer as Response | Refusal, counts, pending, userId }
    }
    const refusalOf = ({ answer }: { readonly answer: unknown }) => {
      expect(answer).toBeInstanceOf(Refusal)
      const { httpStatus, reason, headers } = answer as Refusal
      return { httpStatus, reason, retryAfter: Number(headers['Retry-After']) > 0 }
    }

    test('of 2,500 points is admitted whole, and charged once to the rate limit', async () => {
      await setStatus('active')
      await using replica = await startReplica(kv, { rules: rules({ ingest: { max: 1, windowMs: 60_000 } }) })
      const sent = await send(replica, batch(2_500))
      expect(sent.answer).toMatchObject({ status: 200 })
      expect(sent.pending).toBe(2_500)
      const again = await send(replica, batch(1), sent.userId)
      expect(refusalOf(again)).toEqual({ httpStatus: 503, reason: 'rate-limited', retryAfter: true })
    })

    const DAY_S = 86_400
    test.each([
      ['six minutes', 360],
      ['fifteen minutes', 899],
    ])(
      'with positions %s ahead is sent again until their time has come, and the others are stored at once',
      async (_name, aheadS) => {
        await setStatus('active')
        await using replica = await startReplica(kv)
        const userId = `U${crypto.randomUUID()}`
        const all = [point(-aheadS), point(-aheadS + 1)]
        const sent = await send(replica, { points: all, refused: [] }, userId)
        expect(refusalOf(sent)).toEqual({ httpStatus: 503, reason: 'unavailable', retryAfter: true })
        expect(sent.counts).toMatchObject({ 'rejected:in-the-future': 2 })
        const mixed = { points: [...all, point(1)], refused: [] }
        const some = await send(replica, mixed, userId)
        expect(refusalOf(some)).toEqual({ httpStatus: 503, reason: 'unavailable', retryAfter: true })
        expect(some.pending).toBe(1)
        const later = await send(replica, mixed, userId, NOW + aheadS * 1_000)
        expect(later.answer).toMatchObject({ status: 200 })
        expect(later.pending).toBe(3)
      },
    )

    test('with one position more than fifteen minutes ahead is not held up by it', async () => {
      await setStatus('active')
      await using replica = await startReplica(kv)
      for (const aheadS of [901, DAY_S, 3 * DAY_S])
        for (const points of [[point(-aheadS)], [point(2), point(-aheadS), point(1)]]) {
          const sent = await send(replica, { points, refused: [] })
          expect(sent.answer).toMatchObject({ status: 200 })
          expect(sent.counts).toMatchObject({ 'rejected:in-the-future': 1 })
          expect(sent.pending).toBe(points.length - 1)
        }
    })

    test('of a clock that is ahead counts at its receipt, in the order of the clock', async () => {
      await setStatus('active')
      await using replica = await startReplica(kv)
      const all = [point(-3_660), point(-3_630), point(-3_600)]
      const { userId, answer } = await send(
        replica,
        { points: all, refused: [] },
        undefined,
        NOW,
        async () => 3_660_000,
      )
      expect(answer).toMatchObject({ status: 200 })
      const fields = (await kv.peek(userId)).map(({ field }) => Number(field.slice(1)))
      expect(fields.sort((a, b) => a - b)).toEqual([NOW - 60_000, NOW - 30_000, NOW])
    })

    test('a week of GPS that was counted from a wrong cycle is corrected', async () => {
      await setStatus('active')
      await using replica = await startReplica(kv)
      const early = { ...point(60), timestamp: NOW - 60_000 - 7_168 * DAY_S * 1_000 }
      const { userId, answer } = await send(replica, { points: [early], refused: [] })
      expect(answer).toMatchObject({ status: 200 })
      expect((await kv.peek(userId)).map(({ field }) => field)).toEqual([`t${NOW - 60_000}`])
    })

    test('beyond the room for a pilgrim’s points is sent again later', async () => {
      await setStatus('active')
      await using replica = await startReplica(kv, { rules: rules({ pendingMax: 3 }) })
      const sent = await send(replica, batch(4))
      expect(refusalOf(sent)).toEqual({ httpStatus: 503, reason: 'buffer-full', retryAfter: true })
      expect(sent.pending).toBe(0)
    })

    test('during a pause is sent again later, also with points from before', async () => {
      await setStatus('paused', 'A typhoon comes.')
      await using replica = await startReplica(kv)
      const sent = await send(replica, batch(2))
      expect(refusalOf(sent)).toEqual({ httpStatus: 503, reason: 'paused', retryAfter: true })
      expect((sent.answer as Refusal).message).toBe('A typhoon comes.')
      expect(sent.pending).toBe(0)
      // A request without points is not kept either.
      expect((await send(replica, NO_POINT)).answer).toMatchObject({ status: 200 })
    })

    test('after the end is a success, so that the app forgets its points', async () => {
      await setStatus('ended')
      await using replica = await startReplica(kv)
      const sent = await send(replica, batch(1_200))
      expect(sent.answer).toMatchObject({ status: 200 })
      expect(sent.pending).toBe(0)
    })
  })
}
for (const driver of quickKvDrivers()) suite(driver)

test('a key that nobody has is refused before the body is read', async () => {
  const read = () => {
    throw new Error('was read')
  }
  const taking = { findKey: async () => null, now: () => NOW } as unknown as Parameters<typeof ingest>[0]
  expect(await rejection(ingest(taking, 'owntracks', 'key', read, REQUEST))).toMatchObject({
    httpStatus: 404,
  })
})

test('an SOS with a key that no store can tell is kept for the hash of the key, and its points are sent again', async () => {
  const kept: SosPress[] = []
  let charged = 0
  const taking = {
    findKey: async () => {
      throw unavailable('gone')
    },
    presses: { keep: async (presses: readonly SosPress[]) => void kept.push(...presses) },
    rules: { calendar: createCalendar('Asia/Taipei'), maxAgeMs: 1e10 },
    chargeAlarm: () => charged++,
    now: () => NOW,
  } as unknown as Parameters<typeof ingest>[0]
  const call = (key: string, received: Received) =>
    rejection(ingest(taking, 'traccar', key, () => received, REQUEST))
  const key = 'k'.repeat(32)
  const sos = { ...batch(1), sos: [point(1)] }
  expect(await call(key, sos)).toMatchObject({ httpStatus: 503 })
  expect(kept).toMatchObject([{ userId: null, keyHash: trackerKeyHash(key), place: { lat: 24 } }])
  for (const [one, received] of [
    [key, batch(1)],
    ['no key', sos],
  ] as const)
    expect(await call(one, received)).toMatchObject({ httpStatus: 503 })
  expect([kept.length, charged]).toEqual([1, 1])
})
