import { expect, test } from 'bun:test'
import { joinLines } from '#shared/core/map/join-lines.ts'

/** Places 1.1 km apart, northward. */
const line = (...latitudes: number[]) => latitudes.map((lat) => ({ lat: lat / 100, lng: 5 }))
const shown = (...lines: Parameters<typeof joinLines>[0]) =>
  joinLines(lines).map((one) => one.map(({ lat }) => Math.round(lat * 100)))

test.each([
  ['the days of a walk', [line(0, 1), line(1, 2), line(2, 3)], [[0, 1, 1, 2, 2, 3]]],
  ['the days in another order', [line(2, 3), line(0, 1), line(1, 2)], [[0, 1, 1, 2, 2, 3]]],
  ['a day that is drawn backwards', [line(0, 2), line(3, 2)], [[0, 2, 2, 3]]],
  ['a first day that is drawn backwards', [line(1, 0), line(1, 2), line(2, 4)], [[0, 1, 1, 2, 2, 4]]],
  ['a walk to the south', [line(9, 8), line(8, 5)], [[9, 8, 8, 5]]],
  [
    'a ferry between two days',
    [line(3, 4), line(0, 1)],
    [
      [0, 1],
      [3, 4],
    ],
  ],
  ['a single place', [line(0, 1), line(5)], [[0, 1]]],
  ['nothing', [], []],
])('%s', (_, lines, expected) => {
  expect(shown(...lines)).toEqual(expected)
})
