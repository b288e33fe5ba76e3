/** Each tile of the map is read once and completely, and only as many as the caller consumes. */
import { expect, test } from 'bun:test'
import { EVERYWHERE, readMap } from '#services/admin/map/read-map-tiles.ts'
import { tileToStore, writeTiles } from '#shared/points/totals/stored-tiles.ts'
import { MAX_ZOOM } from '#shared/core/map/cells.ts'
import { describeFlushHarness } from '#tests/scheduler/flush-harness.ts'

const HOUR_MS = 3_600_000
const SINCE_MS = Date.UTC(2026, 3, 12)
const SIDE = 17
const HOURS = 3

describeFlushHarness('tiles of the map', (harness) => {
  const store = () =>
    harness.db.transaction(async (tx) => {
      const tiles = Array.from({ length: SIDE * SIDE * HOURS }, (_, i) => {
        const hour = i % HOURS
        const place = Math.floor(i / HOURS)
        const name = { zoom: MAX_ZOOM, span: 'hour', startMs: SINCE_MS + hour * HOUR_MS } as const
        const counts = [place % 7, 1 + hour, 1, 9 + hour, 2, 0]
        return tileToStore({ ...name, x: 3 + (place % SIDE), y: 5 + Math.floor(place / SIDE), counts })
      })
      await writeTiles(tx, tiles)
    })
  const asked = { zoom: MAX_ZOOM, box: EVERYWHERE, sinceMs: SINCE_MS }

  test('hundreds of tiles are yielded one after the other, each with its hours summed', async () => {
    await store()
    const tiles = await harness.db.transaction(async (tx) => {
      const found = []
      for await (const tile of readMap(tx, harness.calendar, asked)) found.push(tile)
      return found
    })
    expect(tiles).toHaveLength(SIDE * SIDE)
    expect(new Set(tiles.map((tile) => Math.floor(tile[0]! / 65_536))).size).toBe(SIDE * SIDE)
    for (const tile of tiles) {
      expect(tile).toHaveLength(3 * (1 + HOURS))
      // One cell in all hours, and one cell per hour.
      expect(tile.filter((_, i) => i % 3 === 1).sort((a, b) => a - b)).toEqual([2, 2, 2, 6])
    }
  })

  test('a caller that stops early reads no more, and can continue in the same transaction', async () => {
    await store()
    const counts = await harness.db.transaction(async (tx) => {
      for await (const tile of readMap(tx, harness.calendar, asked)) if (tile.length > 0) break
      const [row] = await tx.sql<[{ n: number }]>`SELECT count(*)::int AS n FROM cell_tiles`
      let all = 0
      for await (const tile of readMap(tx, harness.calendar, asked)) all += tile.length > 0 ? 1 : 0
      return [row.n, all]
    })
    expect(counts).toEqual([SIDE * SIDE * HOURS, SIDE * SIDE])
  })
})
