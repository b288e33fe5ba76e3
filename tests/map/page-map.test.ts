/** Texts of the maps and positions of their names: pure functions of the pages. */
import { expect, test } from 'bun:test'
import { distinctLabels } from '#proxy/pages/map/labels.ts'
import { isScattered, stationsAround } from '#proxy/pages/map/stations-around.ts'
import { viewOf } from '#proxy/pages/map/view.ts'

test('a name does not stand where something lies over the map', () => {
  const view = viewOf({ x: 0.5, y: 0.5, zoom: 10 }, { width: 400, height: 400 }, 1)
  const at = (px: number, py: number) => ({ x: view.left + px / view.scale, y: view.top + py / view.scale })
  const labels = [
    { ...at(60, 390), text: '南屯區', kind: 'town' as const },
    { ...at(200, 200), text: '大雅區', kind: 'town' as const },
  ]
  const names = (covered: readonly (readonly [number, number, number, number])[]) =>
    distinctLabels(view, labels, [], covered).map(({ text }) => text)
  expect(names([])).toEqual(['南屯區', '大雅區'])
  // The attribution of the map's data, in a corner.
  expect(names([[0, 380, 180, 400]])).toEqual(['大雅區'])
})

test('no name is cut by the edge: a station’s stands at its other side, or is left out', () => {
  const view = viewOf({ x: 0.5, y: 0.5, zoom: 10 }, { width: 400, height: 400 }, 1)
  const placed = (kind: 'station' | 'town', px: number, py: number) =>
    distinctLabels(view, [
      { x: view.left + px / view.scale, y: view.top + py / view.scale, text: '白沙屯拱天宮', kind },
    ])
  expect(placed('station', 200, 200)).toMatchObject([{ align: 'left' }])
  expect(placed('station', 380, 200)).toMatchObject([{ align: 'right' }])
  for (const [px, py] of [
    [10, 200],
    [390, 200],
    [200, 2],
    [200, 398],
  ] as const)
    expect(placed('town', px, py)).toEqual([])
})

test('a few people who are far from each other are no procession that passes a station', () => {
  expect(isScattered(52, 49.5)).toBe(false)
  expect(isScattered(120, 41)).toBe(true)
  expect(isScattered(120, null)).toBe(false)
})

test('a place is near a station within a kilometre of it, else between two', () => {
  const [start, temple, end] = [{ route_km: 0 }, { route_km: 10 }, { route_km: 30 }]
  const around = (station: number | null, km: number | null) =>
    stationsAround({ station, route_km: km }, [start, temple, end])
  expect(around(1, 9)).toEqual([temple])
  expect(around(1, 11)).toEqual([temple])
  expect(around(1, 14)).toEqual([temple, end])
  expect(around(1, 6)).toEqual([start, temple])
  expect(around(2, 33)).toEqual([end])
  expect(around(1, null)).toEqual([temple])
  expect(around(null, 5)).toBeNull()
})
