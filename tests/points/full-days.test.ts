/** A pilgrim with more points of one day than phones record sends no track until midnight. */
import { expect, test } from 'bun:test'
import { refusalOfVerdict } from '#shared/points/admission.ts'
import { followFullDays } from '#shared/points/full-days.ts'
import { partitionOf } from '#shared/stores/kv/kv.ts'
import { stopwatchBy } from '#tests/helpers/stopwatch.ts'
import { until } from '#tests/helpers/wait.ts'
import { checkin, rules } from '#tests/kv/drivers.ts'
import { describeFlushHarness } from '#tests/scheduler/flush-harness.ts'
import { walk } from '#tests/scheduler/walks.ts'
import { startReplica } from './replica.ts'

const LIMIT = 3
const MANY = { max: 1_000, windowMs: 60_000 }
const track = (userId: string) => checkin({ userId, kind: 'sync' })

describeFlushHarness('a day with too many points', (harness) => {
  test('refuses tracks of its pilgrim, and neither check-ins nor others; what was accepted is stored', async () => {
    await harness.buffer('ann', walk(LIMIT))
    await harness.buffer('ben', walk(LIMIT))
    await harness.flush({ pointsADay: LIMIT })
    await harness.buffer('ann', walk(LIMIT + 1))
    expect(await harness.flush({ pointsADay: LIMIT })).toMatchObject({ stored: 1, duplicates: LIMIT })
    await harness.buffer('ann', walk(LIMIT + 2))
    expect(await harness.flush({ pointsADay: LIMIT })).toMatchObject({ stored: 1, failures: 0 })

    await using replica = await startReplica(harness.kv, { rules: rules({ sync: MANY, checkin: MANY }) })
    const verdict = await until(async () => {
      const one = await replica.admitTrack(track('ann'))
      return one.outcome === 'full' && one
    }, 'the replica to read the note')
    const refused = refusalOfVerdict(verdict, 'sync', MANY)
    expect([refused.httpStatus, refused.reason, refused.headers]).toEqual([
      503,
      'buffer-full',
      { 'Retry-After': '3600' },
    ])
    expect(refused.message).toContain('one day')
    const alone = checkin({ userId: 'ann' })
    const withTrack = { ...alone, entries: [...alone.entries, ...track('ann').entries] }
    expect(await replica.admitDurably(withTrack)).toEqual({ outcome: 'full', of: 'day' })
    expect(await replica.admitDurably(alone)).toMatchObject({ outcome: 'admitted' })
    expect(await replica.admitTrack(track('ben'))).toMatchObject({ outcome: 'admitted' })
    expect(await harness.kv.cached(`full-days:${partitionOf('ann', harness.kv.partitions)}`)).not.toContain(
      'ann',
    )
  })

  test('is forgotten at midnight', async () => {
    const ofTheDay = walk(LIMIT + 1)
    harness.nowMs = Date.parse('2026-04-12T15:59:58.500Z')
    await harness.buffer('ann', ofTheDay)
    await harness.flush({ pointsADay: LIMIT })
    let elapsedMs = 0
    const isFull = followFullDays(
      harness.kv,
      stopwatchBy(() => elapsedMs),
    )
    const asked = () => {
      elapsedMs += 60_000
      return isFull('ann')
    }
    await until(asked, 'the note')
    await until(() => !asked(), 'midnight')
  })
})
