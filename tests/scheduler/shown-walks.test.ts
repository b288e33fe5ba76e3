/** What others see of a claim's walk until the end: its points in order, between cells. */
import { expect, test } from 'bun:test'
import { readPilgrims } from '#shared/points/totals/pilgrim-statistics.ts'
import { readEventTotals } from '#services/tracking/map/map-snapshots.ts'
import type { Point } from '#shared/points/point.ts'
import { rebuild } from '#services/scheduler/rebuild.ts'
import { describeFlushHarness, type FlushHarness } from './flush-harness.ts'
import { appIdOf } from '#shared/core/rules/app-id.ts'
import { METRES_PER_DEGREE } from '#shared/core/rules/geo.ts'
import { point, walk } from './walks.ts'

const MINUTE_MS = 60_000
const VICTIM = 'U-known'

async function shownMm(harness: FlushHarness): Promise<{ shown: number; all: number }> {
  const { statistics } = (await readPilgrims(harness, [VICTIM])).get(VICTIM)!
  return { shown: statistics!.shownMm, all: statistics!.distanceMm }
}

const hidesLate = (userId: string) => userId === VICTIM

/** Rebuilds as an operator does. @returns the rows that differed */
async function rebuilt({ db, calendar }: FlushHarness, coarsensClaims = true): Promise<string[]> {
  const lines: string[] = []
  await rebuild(db, calendar, { check: false, coarsensClaims, tell: (line) => void lines.push(line) })
  return lines
}

describeFlushHarness('the walk that others see', (harness) => {
  test('has points in order at once, and late ones at the end', async () => {
    harness.nowMs = Date.now()
    const startMs = harness.nowMs - 100 * MINUTE_MS
    const step = (at: number, receivedMs: number, more: Partial<Point> = {}): Point =>
      point({
        sentMs: startMs + at * MINUTE_MS,
        receivedMs,
        lat: walk(1)[0]!.lat + (at * 100) / METRES_PER_DEGREE,
        ...more,
      })
    const steps = (from: number, count: number, receivedMs: number): Point[] =>
      Array.from({ length: count }, (_, i) => step(from + i, receivedMs))
    await harness.buffer(VICTIM, steps(0, 50, startMs + 50 * MINUTE_MS))
    const honest = await shownMm(harness)
    expect(honest.all).toBeWithin(4_890_000, 4_910_000)
    expect(honest.shown).toBeWithin(4_000_000, 5_300_000)

    // Between two points that are still pending, and later between two stored ones.
    const aside = { lng: walk(1)[0]!.lng + 0.02 }
    await harness.buffer(VICTIM, [step(10.5, startMs + 51 * MINUTE_MS, aside)])
    const pending = await shownMm(harness)
    expect(pending.all).toBeGreaterThan(honest.all + 3_000_000)
    expect(pending.shown).toBe(honest.shown)
    await harness.flush({ hidesLate })
    expect(await shownMm(harness)).toEqual(pending)
    await harness.buffer(VICTIM, [step(20.5, startMs + 52 * MINUTE_MS, aside)])
    expect((await shownMm(harness)).shown).toBe(honest.shown)
    await harness.flush({ hidesLate })
    expect((await shownMm(harness)).shown).toBe(honest.shown)

    // Steps in order go on from the walk without the late points.
    await harness.buffer(VICTIM, steps(50, 30, startMs + 80 * MINUTE_MS))
    const going = await shownMm(harness)
    expect(going.shown - honest.shown).toBeWithin(2_300_000, 3_700_000)
    await harness.flush({ hidesLate })
    expect(await shownMm(harness)).toEqual(going)

    // So does the event's sum. Once the event has ended, it is the sum of all.
    const kmOf = async (coarsens: boolean) => (await readEventTotals(harness.context(), 1, coarsens))!.km
    expect(await kmOf(true)).toBe(Math.floor(going.shown / 1e6))
    expect(await kmOf(false)).toBe(Math.floor(going.all / 1e6))
    expect(going.all).toBeGreaterThan(going.shown + 5_000_000)

    // A rebuild computes the same walk from the points.
    expect(await rebuilt(harness)).toEqual([])
    await harness.db.sql`UPDATE shown_walks SET distance_mm = distance_mm - 1, anchor_lat = 0`
    expect(await rebuilt(harness)).toEqual([
      expect.stringMatching(/^shown_walks U-known: distance_mm \d+ → \d+, anchor_lat 0 → 24/),
    ])
    expect(await shownMm(harness)).toEqual(going)
    await harness.db.sql`DELETE FROM shown_walks`
    expect(await rebuilt(harness)).toHaveLength(1)
    expect(await shownMm(harness)).toEqual(going)
    expect(await rebuilt(harness, false)).toEqual(['shown_walks U-known: not expected'])
    expect(await shownMm(harness)).toEqual({ all: going.all, shown: going.all })
  })

  test('goes on with each step, although a stranger sends times in the future', async () => {
    harness.nowMs = Date.now()
    const steps = walk(60, harness.nowMs - 70 * MINUTE_MS)
    const ahead = steps.map(({ sentMs, receivedMs, lat }) =>
      point({ sentMs: sentMs + 5 * MINUTE_MS, receivedMs: receivedMs + 1_000, lat }),
    )
    // Not a claim, so the rebuild expects no row.
    const own = appIdOf(new Uint8Array(16))
    await harness.buffer(own, steps)
    const alone = (await readPilgrims(harness, [own])).get(own)!.statistics!.shownMm
    expect(alone).toBeGreaterThan(4_000_000)
    for (const [from, to] of [
      [0, 20],
      [20, 60],
    ] as const) {
      await harness.buffer(VICTIM, [...steps.slice(from, to), ...ahead.slice(from, to)])
      await harness.flush({ hidesLate })
    }
    expect((await shownMm(harness)).shown).toBe(alone)
    expect(await rebuilt(harness)).toEqual([])
  })

  test('holds a batch back until the end, if a stranger sends a point just before the phone does', async () => {
    harness.nowMs = Date.now()
    const steps = walk(60, harness.nowMs - 70 * MINUTE_MS)
    for (let i = 10; i <= 60; i += 10) {
      const batch = steps.slice(i - 10, i)
      const sentAtMs = batch.at(-1)!.recordedMs + 2_000
      // The first batch comes alone.
      const stranger = point({ sentMs: sentAtMs - 1_000, receivedMs: sentAtMs - 1_000, lat: steps[9]!.lat })
      const phone = batch.map((step) => ({ ...step, receivedMs: sentAtMs }))
      await harness.buffer(VICTIM, i === 10 ? phone : [stranger, ...phone])
      await harness.flush({ hidesLate })
    }
    const { shown, all } = await shownMm(harness)
    // Only the first batch: 0.7 of 4.7 km.
    expect(shown).toBeWithin(all * 0.1, all * 0.2)
    expect(await rebuilt(harness)).toEqual([])
  })

  test('goes on from the stored walk of a pilgrim without one', async () => {
    harness.nowMs = Date.now()
    const startMs = harness.nowMs - 200 * MINUTE_MS
    await harness.buffer(VICTIM, walk(100, startMs))
    await harness.flush()
    const stored = await shownMm(harness)
    expect(stored.shown).toBe(stored.all)
    await harness.buffer(VICTIM, walk(200, startMs).slice(100))
    await harness.flush({ hidesLate })
    const going = await shownMm(harness)
    expect(going.shown).toBeWithin(going.all * 0.9, going.all * 1.1)
    expect(going.shown).not.toBe(going.all)
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
