/** Front and tail are computed once for each version of the map. */
import { expect, test } from 'bun:test'
import { createFrontAndTail } from '#services/admin/map/read-front-and-tail.ts'
import { addTiles } from '#shared/points/totals/stored-tiles.ts'
import { CellChanges, sumChanges, unpackChanges, tilesOfHours } from '#shared/core/map/cell-counts.ts'
import { inTurns } from '#shared/runtime/yield-to-event-loop.ts'
import { describeFlushHarness, type FlushHarness } from '#tests/scheduler/flush-harness.ts'

const HOUR_MS = 3_600_000
const NOON_MS = Date.UTC(2026, 3, 12, 4)
const ASKED = { zoom: 10, sinceMs: null as number | null, untilMs: null as number | null, k: 0 }

describeFlushHarness('front and tail', (harness) => {
  /** A pilgrim for each hundredth of a degree northward, each with a point. */
  const walk = (fromLat: number, hour: number, count = 20) =>
    harness.db.transaction(async (tx) => {
      const changes = new CellChanges()
      for (let i = 0; i < count; i++) {
        const place = { lat: fromLat + i / 100, lng: 120.61 }
        changes.addPoint(hour, place)
        changes.addPilgrim(hour, place)
      }
      await addTiles(
        tx,
        await inTurns(tilesOfHours(sumChanges(unpackChanges(changes.pack())!), harness.calendar)),
      )
    })
  const readerOf = ({ db, calendar }: FlushHarness, mapCrowd = 1) => {
    const read = createFrontAndTail({
      calendar,
      config: { mapCrowd },
      event: { current: { route: null, stations: [] } },
    })
    return (asked = ASKED) => db.transaction((tx) => read(tx, asked))
  }

  test('are cached until the map changes', async () => {
    const read = readerOf(harness)
    expect((await read()).front).toBeNull()
    await walk(24, NOON_MS)
    const first = await read()
    expect(first.spread_km).toBeWithin(18, 22)
    // The same object, so nothing was computed again.
    expect(await read()).toBe(first)

    await walk(24.2, NOON_MS)
    const second = await read()
    expect(second.spread_km).toBeWithin(38, 43)
    expect(await readerOf(harness)()).toEqual(second)

    // A day later only pilgrims who have been seen since count as walking.
    await walk(24.6, NOON_MS + 30 * HOUR_MS)
    const third = await read()
    expect(Math.min(third.front!.lat, third.tail!.lat)).toBeGreaterThan(24.59)
    const all = { ...ASKED, sinceMs: NOON_MS }
    expect((await read(all)).spread_km).toBeGreaterThan(60)

    // As after a repair of one tile: all other tiles are unchanged.
    const evening = new Date(NOON_MS + 6 * HOUR_MS).toISOString()
    await harness.db.sql`DELETE FROM cell_tiles WHERE zoom = 14 AND start > ${evening}`
    expect((await read()).front).toBeNull()
    expect((await read(all)).spread_km).toEqual(second.spread_km)
  })

  test('of a time that is over are of its points, wherever their pilgrims are now', async () => {
    const read = readerOf(harness)
    await walk(24, NOON_MS)
    await walk(24.5, NOON_MS + HOUR_MS)
    const hour = (sinceMs: number) => read({ ...ASKED, sinceMs, untilMs: sinceMs + HOUR_MS })
    const second = await hour(NOON_MS + HOUR_MS)
    expect(second.tail!.lat).toBeWithin(24.5, 24.53)
    expect(second.middle!.lat).toBeWithin(24.58, 24.61)
    expect(second.front!.lat).toBeWithin(24.66, 24.7)
    const first = await hour(NOON_MS)
    expect(Math.max(first.front!.lat, first.tail!.lat)).toBeLessThan(24.21)
    expect(await hour(NOON_MS)).toBe(first)
    // A later hour does not change past ones.
    await walk(24.9, NOON_MS + 2 * HOUR_MS)
    expect(await hour(NOON_MS)).toBe(first)
    expect((await hour(NOON_MS + 5 * HOUR_MS)).front).toBeNull()
  })

  test('of a time that is over are told where enough pilgrims were seen, as on the public map', async () => {
    await walk(24, NOON_MS)
    const hour = { ...ASKED, sinceMs: NOON_MS, untilMs: NOON_MS + HOUR_MS }
    const read = readerOf(harness, 5)
    const seen = (pilgrims: number) => harness.db.sql`
      INSERT INTO event_hours (hour, points, checkins, distance_mm, carbon_mg, pilgrims)
      VALUES (to_timestamp(${NOON_MS / 1_000}::float8), 20, 0, 0, 0, ${pilgrims})
      ON CONFLICT (hour) DO UPDATE SET pilgrims = excluded.pilgrims`
    const nothing = { front: null, middle: null, tail: null, spread_km: null }
    expect(await read(hour)).toEqual(nothing)
    await seen(4)
    expect(await read(hour)).toEqual(nothing)
    await seen(5)
    expect((await read(hour)).front).not.toBeNull()
    expect(await read({ ...hour, sinceMs: NOON_MS - HOUR_MS, untilMs: NOON_MS })).toEqual(nothing)
    expect((await read({ ...hour, sinceMs: null })).front).not.toBeNull()
  })

  test('are the same with tiles that an older release has written', async () => {
    const read = readerOf(harness)
    await walk(24, NOON_MS)
    const before = await read()
    expect(before.spread_km).toBeWithin(18, 22)
    await harness.db.sql`UPDATE cell_tiles SET people = NULL`
    const after = await read()
    expect(after).not.toBe(before)
    expect(after).toEqual(before)
  })

  test('with k, are rounded to the cells of the answer, separately for each query', async () => {
    const read = readerOf(harness)
    await walk(24, NOON_MS)
    const [near, far] = [await read({ ...ASKED, k: 1, zoom: 14 }), await read({ ...ASKED, k: 1, zoom: 6 })]
    expect(near.front).not.toEqual(far.front)
    expect((await read({ ...ASKED, k: 2, zoom: 14 })).front).toBeNull()
    expect(await read({ ...ASKED, k: 1, zoom: 6 })).toBe(far)
  })
})
