/** The shapes with which the map draws a day's way. */
import { expect, test } from 'bun:test'
import { worldX, worldY } from '#proxy/pages/map/projection.ts'
import { wayShapes } from '#proxy/pages/walk/way/way-shapes.ts'

const time = (minute: number) => new Date(Date.UTC(2026, 3, 12, 1, minute)).toISOString()
const place = (minute: number) => ({ t: time(minute), lat: 24 + minute / 1_000, lng: 120.5 })
const stretch = (from: number, to: number, kg: number) => ({
  from: time(from),
  to: time(to),
  mode: kg > 0 ? 'bus' : 'walk',
  inferred: true,
  km: 1,
  speed_kmh: kg > 0 ? 40 : 4,
  carbon_kg: kg,
})
const EMPTY = { km: 0, checkIns: 0, line: [], stretches: [], checkins: [] }

test('the line is cut where the pilgrim gets into a bus and out of it, without a gap', () => {
  const shapes = wayShapes({
    ...EMPTY,
    line: [0, 1, 2, 3, 4, 5].map(place),
    stretches: [stretch(0, 2, 0), stretch(2, 4, 1.2), stretch(4, 5, 0)],
  })
  const ends = (parts: typeof shapes.onFoot) => parts.map(({ at }) => [at[1], at.at(-1)])
  const y = (minute: number) => worldY(24 + minute / 1_000)
  expect(ends(shapes.onFoot)).toEqual([
    [y(0), y(2)],
    [y(4), y(5)],
  ])
  expect(ends(shapes.byMotor)).toEqual([[y(2), y(4)]])
  expect([shapes.first?.y, shapes.last?.y]).toEqual([y(0), y(5)])
})

test('a ride that begins with a rest, of which no place counts, is a ride from its first place on', () => {
  const shapes = wayShapes({
    ...EMPTY,
    line: [0, 1, 8, 9].map(place),
    stretches: [stretch(0, 1, 0), stretch(7, 9, 1.2)],
  })
  expect([shapes.gaps.length, shapes.byMotor.length, shapes.onFoot.length]).toEqual([0, 1, 1])
  expect(shapes.byMotor[0]!.at).toHaveLength(6)
})

test('a long silence on foot is a gap, a ride without a signal and a rest are none', () => {
  const shapes = wayShapes({
    ...EMPTY,
    // Minute and place: a silence of 20 min over 2 km, a rest of 20 min, a metro tunnel.
    line: [
      [0, 0],
      [20, 20],
      [40, 20],
      [41, 21],
      [58, 58],
    ].map(([minute, at]) => ({ ...place(at!), t: time(minute!) })),
    stretches: [stretch(0, 41, 0), stretch(41, 58, 0.3)],
  })
  expect([shapes.gaps.length, shapes.byMotor.length, shapes.onFoot.length]).toEqual([1, 1, 1])
  expect(shapes.gaps[0]!.at.at(-1)).toBe(worldY(24.02))
})

test('a check-in far away is drawn, but the map looks at the way', () => {
  const far = { t: time(9), lat: 35, lng: 139, in_range: false }
  const shapes = wayShapes({ ...EMPTY, line: [place(0), place(1)], checkins: [far] })
  expect(shapes.checkIns).toHaveLength(1)
  expect(shapes.bounds!.east).toBeCloseTo(worldX(120.5), 9)
  // If it is the only place, the map shows it.
  expect(wayShapes({ ...EMPTY, checkins: [far] }).bounds!.east).toBeCloseTo(worldX(139), 9)
  expect(wayShapes(EMPTY).bounds).toBeNull()
})
