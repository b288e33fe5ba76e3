/** Counts and deltas of the public map. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { deltaOf } from '#services/tracking/map/map-snapshots.ts'
import { steppedCount } from '#services/tracking/map/public-map.ts'
import type { EventMap } from '#shared/contracts/map.ts'

describe('the parts of the map', () => {
  test('counts are exact up to nine, and then rounded down by at most a fifth', () => {
    for (let n = 1; n < 10; n++) expect(steppedCount(n)).toBe(n)
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 2_000_000 }), (n) => {
        expect(steppedCount(n)).toBeLessThanOrEqual(n)
        expect(steppedCount(n)).toBeGreaterThan(n * 0.74)
      }),
    )
  })

  test('a delta has only what has changed', () => {
    const map = {
      version: 1,
      as_of: 'a',
      cells: [
        [1, 2, 14, 5],
        [3, 4, 14, 6],
      ],
      on_map: 11,
    } as unknown as EventMap
    const next: EventMap = {
      ...map,
      version: 2,
      as_of: 'b',
      cells: [
        [1, 2, 14, 5],
        [5, 6, 14, 7],
      ],
    }
    expect(deltaOf(map, next)).toEqual({
      since: 1,
      version: 2,
      as_of: 'b',
      cells: [
        [5, 6, 14, 7],
        [3, 4, 14, 0],
      ],
    })
  })
})
