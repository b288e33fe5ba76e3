import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  addCounts,
  CellChanges,
  cellOf,
  coarsen,
  type Counts,
  packCounts,
  packPeople,
  sumChanges,
  tilesOf,
  totalOf,
  unpackChanges,
  unpackCounts,
  zOrder,
} from '#shared/core/map/cell-counts.ts'
import { cellAt } from '#shared/core/map/cells.ts'

const places = fc.record({
  lat: fc.double({ min: -90, max: 90, noNaN: true }),
  lng: fc.double({ min: -180, max: 180, noNaN: true }),
})
/** Lists of cells below some Z-order. */
const countsBelow = (max: number): fc.Arbitrary<Counts> =>
  fc
    .uniqueArray(
      fc.tuple(fc.nat(max), fc.integer({ min: -3, max: 300 }), fc.integer({ min: -200, max: 200 })),
      { selector: ([z]) => z },
    )
    .map((cells) =>
      cells
        .filter(([, points, users]) => points !== 0 || users !== 0)
        .sort(([a], [b]) => a - b)
        .flat(),
    )

test('Z-order names one cell, and that of the zoom above is without the last two bits', () => {
  fc.assert(
    fc.property(places, fc.integer({ min: 7, max: 18 }), ({ lat, lng }, zoom) => {
      const cell = cellAt(lat, lng, zoom)
      expect(cellOf(zOrder(cell), zoom)).toEqual(cell)
      expect(zOrder(cellAt(lat, lng, zoom - 1))).toBe(Math.floor(zOrder(cell) / 4))
    }),
  )
})

test('changes of several flushes are summed by hour and cell', () => {
  const change = fc.tuple(fc.constantFrom(0, 3_600_000), fc.nat(4), fc.constantFrom('point', 'come', 'go'))
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 30 }), { maxLength: 4 }), (notes) => {
      const plain: Record<string, [number, number]> = {}
      const packed = notes.map((changes) => {
        const note = new CellChanges()
        for (const [hour, i, what] of changes) {
          const place = { lat: 24 + i / 1_000, lng: 120.6 }
          const sums = (plain[`${hour} ${zOrder(cellAt(place.lat, place.lng, 18))}`] ??= [0, 0])
          if (what === 'point') note.addPoint(hour, place)
          else if (what === 'come') note.addPilgrim(hour, place)
          else note.removePilgrim(hour, place)
          if (what === 'point') sums[0]++
          else sums[1] += what === 'come' ? 1 : -1
        }
        return note.pack()
      })
      const summed: Record<string, number[]> = {}
      for (const [hour, counts] of sumChanges(packed.flatMap((text) => unpackChanges(text)!)))
        for (let i = 0; i < counts.length; i += 3) summed[`${hour} ${counts[i]}`] = counts.slice(i + 1, i + 3)
      expect(summed).toEqual(
        Object.fromEntries(
          Object.entries(plain).filter(([, [points, users]]) => points !== 0 || users !== 0),
        ),
      )
    }),
  )
})

test('packed counts come back, and adding to packed ones is adding', () => {
  fc.assert(
    fc.property(countsBelow(65_535), countsBelow(65_535), (a, b) => {
      expect(unpackCounts(packCounts(a))).toEqual([...a])
      expect(unpackCounts(packCounts(b, packCounts(a)))).toEqual([...addCounts(a, b)])
    }),
  )
})

test('packed people are the counts without points', () => {
  fc.assert(
    fc.property(countsBelow(65_535), (counts) => {
      const people = unpackCounts(packPeople(packCounts(counts)))
      expect(totalOf(people)).toEqual({ ...totalOf(counts), points: 0 })
      const points = addCounts(
        counts,
        people.map((value, i) => (i % 3 === 2 ? -value : value)),
      )
      expect(points.every((value, i) => i % 3 < 2 || value === 0)).toBe(true)
    }),
  )
})

test('big numbers are packed too', () => {
  const counts = [0, 1_000_000_000, 5, 65_535, -1_000_000_000, -1]
  expect(unpackCounts(packCounts(counts))).toEqual(counts)
})

test('coarsening and cutting into tiles lose nothing', () => {
  fc.assert(
    fc.property(countsBelow(2 ** 40), (counts) => {
      expect(totalOf(coarsen(counts, 3))).toEqual(totalOf(counts))
      expect(coarsen(coarsen(counts, 1), 2)).toEqual(coarsen(counts, 3))
      const whole = [...tilesOf(counts)].flatMap(([tile, mine]) => [
        ...unpackCounts(packCounts(mine), tile * 256 ** 2),
      ])
      expect(whole).toEqual([...counts])
    }),
  )
})

test('a pilgrim who moves within a coarse cell does not count as a change of it', () => {
  expect(coarsen([0, 0, -1, 1, 0, 1, 4, 2, 0], 1)).toEqual([1, 2, 0])
})
