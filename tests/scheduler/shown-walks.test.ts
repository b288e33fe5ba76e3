/** A claim's walk as shown to others: points in order at once, late ones from the next midnight. */
import { expect, test } from 'bun:test'
import { readPilgrims } from '#shared/points/totals/pilgrim-statistics.ts'
import { readEventTotals } from '#services/tracking/map/map-snapshots.ts'
import type { Point } from '#shared/points/point.ts'
import { describeFlushHarness, type FlushHarness } from './flush-harness.ts'
import { point, walk } from './walks.ts'

const MINUTE_MS = 60_000
const VICTIM = 'U-known'

async function shownMm(harness: FlushHarness): Promise<{ shown: number; all: number }> {
  const { statistics } = (await readPilgrims(harness, [VICTIM])).get(VICTIM)!
  return { shown: statistics!.shownMm, all: statistics!.distanceMm }
}

const hidesLate = (userId: string) => userId === VICTIM

describeFlushHarness('the walk that others are shown', (harness) => {
  test('has late points from the next midnight on, and points in order at once', async () => {
    // The stored row's condition uses the database's clock.
    harness.nowMs = Date.now()
    const startMs = harness.nowMs - 60 * MINUTE_MS
    const steps = (from: number, count: number, receivedMs: number): Point[] =>
      walk(from + count)
        .slice(from)
        .map((step, i) => ({
          ...step,
          sentMs: startMs + (from + i) * MINUTE_MS,
          recordedMs: startMs + (from + i) * MINUTE_MS,
          receivedMs,
        }))
    const between = (afterMs: number, receivedMs: number): Point =>
      point({
        sentMs: startMs + afterMs,
        recordedMs: startMs + afterMs,
        receivedMs,
        lat: walk(1)[0]!.lat + 0.01,
      })
    await harness.buffer(VICTIM, steps(0, 20, startMs + 20 * MINUTE_MS))
    const honest = await shownMm(harness)
    expect(honest.shown).toBe(honest.all)
    expect(honest.shown).toBeGreaterThan(1_000_000)

    // Between two points that are still pending, and later between two stored ones.
    await harness.buffer(VICTIM, [between(10.5 * MINUTE_MS, startMs + 21 * MINUTE_MS)])
    const pending = await shownMm(harness)
    expect(pending.all).toBeGreaterThan(honest.all + 400_000)
    expect(pending.shown).toBe(honest.shown)
    await harness.flush({ hidesLate })
    expect(await shownMm(harness)).toEqual(pending)
    await harness.buffer(VICTIM, [between(5.5 * MINUTE_MS, startMs + 22 * MINUTE_MS)])
    expect((await shownMm(harness)).shown).toBe(honest.shown)
    await harness.flush({ hidesLate })
    expect((await shownMm(harness)).shown).toBe(honest.shown)

    // Later points in order continue from the walk without the late points.
    await harness.buffer(VICTIM, steps(20, 10, startMs + 30 * MINUTE_MS))
    const going = await shownMm(harness)
    const stepMm = honest.all / 19
    expect(going.shown).toBeWithin(honest.shown + 10 * stepMm - 10, honest.shown + 10 * stepMm + 10)
    await harness.flush({ hidesLate })
    expect(await shownMm(harness)).toEqual(going)

    // The event's sum behaves the same.
    const totals = () => readEventTotals(harness.context(), 1, false)
    expect((await totals())!.km).toBe(Math.floor(going.shown / 1e6))
    await harness.db.sql`UPDATE shown_walks SET until = now() - interval '1 second'`
    expect(await shownMm(harness)).toEqual({ shown: going.all, all: going.all })
    expect((await totals())!.km).toBe(Math.floor(going.all / 1e6))
    expect(Math.floor(going.all / 1e6)).toBeGreaterThan(Math.floor(going.shown / 1e6))
  })

  test('counts a way at most as far as somebody walks in its time, until midnight', async () => {
    harness.nowMs = Date.now()
    const startMs = harness.nowMs - 30 * MINUTE_MS
    // Ten minutes at 48 km/h, one point a minute.
    const ride = Array.from({ length: 11 }, (_, i) =>
      point({
        sentMs: startMs + i * MINUTE_MS,
        receivedMs: startMs + i * MINUTE_MS + 1_000,
        lat: walk(1)[0]!.lat + (i * 800) / 111_195,
      }),
    )
    await harness.buffer(VICTIM, ride)
    const pending = await shownMm(harness)
    expect(pending.all).toBeWithin(7_990_000, 8_010_000)
    expect(pending.shown).toBe(1_000_000)
    // Also if the clock of the flush's machine is two days behind: the displays use the database's clock.
    harness.nowMs -= 2 * 86_400_000
    await harness.flush({ hidesLate })
    expect(await shownMm(harness)).toEqual(pending)
    await harness.db.sql`UPDATE shown_walks SET until = now() - interval '1 second'`
    expect(await shownMm(harness)).toEqual({ shown: pending.all, all: pending.all })
  })

  test('is the whole one of whom nobody else can send points for', async () => {
    harness.nowMs = Date.now()
    const late = point({ sentMs: harness.nowMs - 30 * MINUTE_MS, receivedMs: harness.nowMs })
    const first = point({ sentMs: harness.nowMs - 10 * MINUTE_MS, receivedMs: harness.nowMs - 5_000 })
    await harness.buffer('w-own', [first])
    await harness.buffer('w-own', [late])
    await harness.flush({ hidesLate })
    expect([...(await harness.db.sql`SELECT user_id FROM shown_walks WHERE user_id = 'w-own'`)]).toEqual([])
  })
})
