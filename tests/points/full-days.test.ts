/** Once a day has more points than phones record, further track points of that pilgrim are rejected. */
import { expect, test } from 'bun:test'
import { checkIn } from '#shared/points/check-in.ts'
import { followFullDays, type FullDaysOf } from '#shared/points/full-days.ts'
import { syncTrack } from '#shared/points/sync-track.ts'
import { partitionOf } from '#shared/stores/kv/kv.ts'

import { stopwatchBy } from '#tests/helpers/stopwatch.ts'
import { until } from '#tests/helpers/wait.ts'
import { rules } from '#tests/kv/drivers.ts'
import { describeFlushHarness, MAX_AGE_MS, NOON } from '#tests/scheduler/flush-harness.ts'
import { walk } from '#tests/scheduler/walks.ts'
import { refusal, startReplica } from './replica.ts'

const DAY_MS = 86_400_000
const LIMIT = 3
const MANY = { max: 1_000, windowMs: 60_000 }
const DAY = '2026-04-12'

describeFlushHarness('a day with too many points', (harness) => {
  /** Reads the notes again at each call. */
  const following = (): FullDaysOf => {
    let elapsedMs = 0
    const daysOf = followFullDays(
      harness.kv,
      stopwatchBy(() => elapsedMs),
    )
    return (userId) => {
      elapsedMs += 60_000
      return daysOf(userId)
    }
  }
  const fill = async (userId: string, points = LIMIT + 1): Promise<void> => {
    await harness.buffer(userId, walk(points))
    await harness.flush({ pointsADay: LIMIT })
  }
  const untilNoted = (daysOf: FullDaysOf, userId: string) =>
    until(() => daysOf(userId).has(DAY), 'the replica to read the note')

  test('rejects its track points alone; what was accepted is stored', async () => {
    await fill('ben', LIMIT)
    await fill('ann')
    await harness.buffer('ann', walk(LIMIT + 2))
    expect(await harness.flush({ pointsADay: LIMIT })).toMatchObject({ stored: 1, failures: 0 })
    const fullDaysOf = following()
    await untilNoted(fullDaysOf, 'ann')

    await using replica = await startReplica(harness.kv, { rules: rules({ sync: MANY, checkin: MANY }) })
    const { calendar } = harness
    const accept = { calendar, area: () => true, maxAgeMs: MAX_AGE_MS, clearedMs: () => null, fullDaysOf }
    const ruled = { ...accept, count: () => undefined, limit: MANY }
    const nowMs = NOON + DAY_MS
    const late = { lat: 24, lng: 121, timestamp: NOON }
    const today = { lat: 24, lng: 121.1, timestamp: nowMs }
    const sync = (user_id: string, points: object[]) =>
      syncTrack(replica.admitTrack, { user_id, points }, nowMs, ruled)
    expect(await sync('ann', [late, today])).toMatchObject({
      accepted: 1,
      rejected: [{ index: 0, reason: 'full-day' }],
      durable_through: new Date(nowMs).toISOString(),
    })
    expect(await sync('ann', [late])).toMatchObject({ accepted: 0, durable_through: null })
    expect(await sync('ben', [late])).toMatchObject({ accepted: 1, rejected: [] })
    // Also with a check-in of the full day.
    const checkedIn = await checkIn(
      replica,
      { user_id: 'ann', ...late, track_points: [late, today] },
      nowMs,
      ruled,
    )
    expect(checkedIn).toMatchObject({
      duplicate: false,
      track: { duplicates: 1, rejected: [{ index: 0, reason: 'full-day' }] },
    })
    // The end of the event is reported as usual.
    await harness.kv.setStatus({ status: 'ended', version: 2, message: null })
    expect((await refusal(sync('ann', [late]))).reason).toBe('ended')
    expect(await harness.kv.cached(`full-days:${partitionOf('ann', harness.kv.partitions)}`)).not.toContain(
      'ann',
    )
  })

  test('still says where its pilgrim is', async () => {
    await fill('ann')
    const fullDaysOf = following()
    await untilNoted(fullDaysOf, 'ann')
    const { calendar } = harness
    const accept = { calendar, area: () => true, maxAgeMs: MAX_AGE_MS, clearedMs: () => null, fullDaysOf }
    const ruled = { ...accept, count: () => undefined, limit: MANY }
    const positions: unknown[] = []
    await syncTrack(
      async ({ entries, position }) => {
        positions.push([entries.length, position])
        return { outcome: 'no-consent' }
      },
      { user_id: 'ann', points: [{ lat: 24, lng: 121, timestamp: NOON }] },
      NOON,
      ruled,
    ).catch(() => undefined)
    expect(positions).toEqual([[0, { t: NOON, lat: 24, lng: 121 }]])
  })

  test('is no matter of who begins anew after an erasure, until it is full again', async () => {
    await fill('ann')
    const daysOf = following()
    await untilNoted(daysOf, 'ann')
    const erasedMs = harness.nowMs
    await harness.kv.erase('ann', { generation: 1, erasedMs })
    await until(() => !daysOf('ann').has(DAY), 'the replica to read the erasure')
    harness.nowMs += 60_000
    await harness.buffer('ann', walk(2 * LIMIT + 2, NOON + 60_000))
    await harness.flush({ pointsADay: LIMIT })
    await untilNoted(daysOf, 'ann')
  })

  test('is forgotten once its points are too old', async () => {
    await harness.buffer('ann', walk(LIMIT + 1))
    await harness.flush({ pointsADay: LIMIT, maxAgeMs: 1_500 })
    const daysOf = following()
    await untilNoted(daysOf, 'ann')
    await until(() => !daysOf('ann').has(DAY), 'the end of the note')
  })
})
