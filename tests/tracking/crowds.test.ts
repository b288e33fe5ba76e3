/** Crowds: each has enough people, and everyone with enough people in the same cell of zoom 10 is in one. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cellAt, cellCentre, cellName, MAX_ZOOM } from '#shared/core/map/cells.ts'
import { type Crowd, groupIntoCrowds, WIDEST_ZOOM } from '#services/tracking/map/crowds.ts'
import { CLAIM_ZOOM } from '#shared/core/rules/claim-measures.ts'
import { inTurns } from '#shared/runtime/yield-to-event-loop.ts'

interface Seen {
  readonly lat: number
  readonly lng: number
  /** Epoch milliseconds. */
  readonly t: number
  readonly isClaim: boolean
}

/** Places around the corner of four cells of every zoom, some within the same few metres. */
const somebody = fc
  .record({
    lat: fc.oneof(fc.double({ min: -0.03, max: 0.03, noNaN: true }), fc.constantFrom(-0.02, 0.0001, 0.012)),
    lng: fc.oneof(fc.double({ min: -0.03, max: 0.03, noNaN: true }), fc.constantFrom(-0.02, 0.0001, 0.012)),
    t: fc.nat(),
    isClaim: fc.boolean(),
  })
  .map(({ lat, lng, ...seen }): Seen => ({ lat: 24.15 + lat, lng: 120.675 + lng, ...seen }))
const people = fc.array(somebody, { maxLength: 120 })
const least = fc.integer({ min: 1, max: 9 })

const cellOf = ({ lat, lng }: Seen, zoom: number): string => cellName(cellAt(lat, lng, zoom))
const grouped = (given: readonly Seen[], n: number) => {
  const cells = given.map(({ lat, lng }) => cellAt(lat, lng, MAX_ZOOM))
  const people = {
    count: cells.length,
    xs: cells.map(({ x }) => x),
    ys: cells.map(({ y }) => y),
    times: given.map(({ t }) => t),
    claims: given.map(({ isClaim }) => Number(isClaim)),
  }
  return inTurns(groupIntoCrowds(people, n))
}
const namesOf = (crowds: readonly Crowd[]) =>
  crowds.map(({ cell, count, sinceMs }) => [cellName(cell), count, sinceMs])

describe('crowds', () => {
  test('hold enough people, include everybody with enough neighbours, and name the earliest time of their people', async () => {
    await fc.assert(
      fc.asyncProperty(people, least, async (given, n) => {
        const crowds = await grouped(given, n)
        const widest = Map.groupBy(given, (one) => cellOf(one, WIDEST_ZOOM))
        const saved = [...widest.values()].filter(({ length }) => length >= n).flat()
        expect(crowds.reduce((sum, { count }) => sum + count, 0)).toBe(saved.length)
        for (const { cell, count, sinceMs } of crowds) {
          expect(count).toBeGreaterThanOrEqual(n)
          const within = given.filter((one) => cellOf(one, cell.zoom) === cellName(cell))
          expect(within.length).toBeGreaterThanOrEqual(count)
          expect(within.map(({ t }) => t)).toContain(sinceMs)
          expect(within.filter(({ t }) => t >= sinceMs).length).toBeGreaterThanOrEqual(count)
        }
        expect(new Set(crowds.map(({ cell }) => cellName(cell))).size).toBe(crowds.length)
      }),
    )
  })

  test('do not depend on the order of the people', async () => {
    await fc.assert(
      fc.asyncProperty(people, least, async (given, n) => {
        expect(await grouped(given.toReversed(), n)).toEqual(await grouped(given, n))
      }),
    )
  })

  test('reveal nothing of where a claim is within its cell of zoom 12', async () => {
    const centred = (one: Seen): Seen =>
      one.isClaim ? { ...one, ...cellCentre(cellAt(one.lat, one.lng, CLAIM_ZOOM)) } : one
    await fc.assert(
      fc.asyncProperty(people, least, async (given, n) => {
        const crowds = await grouped(given, n)
        expect(await grouped(given.map(centred), n)).toEqual(crowds)
        // Claims can fill those cells, but no finer one.
        const fine = crowds.filter(({ cell }) => cell.zoom > CLAIM_ZOOM)
        expect(fine.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(
          given.filter(({ isClaim }) => !isClaim).length,
        )
      }),
    )
  })

  const PLACE = { lat: 24.15, lng: 120.675 }
  const at = (metres: number, t: number): Seen => ({
    lat: PLACE.lat + metres / 111_195,
    lng: PLACE.lng,
    t,
    isClaim: false,
  })
  /** The finest zoom at which two places share a cell. */
  const shared = (a: Seen, b: Seen): number => {
    let zoom = MAX_ZOOM
    while (cellOf(a, zoom) !== cellOf(b, zoom)) zoom--
    return zoom
  }
  const five = [1, 2, 3, 4, 5].map((t) => at(1, t))
  const far = at(300, 6)

  test('enough people at one place are in its finest cell; one too few are nowhere', async () => {
    expect(namesOf(await grouped(five, 5))).toEqual([[cellOf(five[0]!, MAX_ZOOM), 5, 1]])
    expect(await grouped(five.slice(1), 5)).toEqual([])
  })

  test('four people and one further away are grouped in the finest cell that holds all', async () => {
    const together = cellOf(far, shared(five[0]!, far))
    expect(namesOf(await grouped([...five.slice(1), far], 5))).toEqual([[together, 5, 2]])
  })

  test('too few people in a wider cell are joined by the smallest crowd within it', async () => {
    const together = cellOf(far, shared(five[0]!, far))
    expect(namesOf(await grouped([...five, far], 5))).toEqual([[together, 6, 1]])
    const six = [11, 12, 13, 14, 15, 16].map((t) => at(30, t))
    expect(new Set(namesOf(await grouped([...five, ...six, far], 5)))).toEqual(
      new Set([
        [together, 6, 1],
        [cellOf(six[0]!, MAX_ZOOM), 6, 11],
      ]),
    )
  })
})
