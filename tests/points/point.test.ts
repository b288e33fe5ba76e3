import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isNumeric, type Measurement, MEASUREMENTS } from '#shared/contracts/gps-points.ts'
import { fieldOf, pack, type Point, unpack } from '#shared/points/point.ts'
import { checkInPositionOf, sharesInstantByAccident } from '#shared/stores/kv/kv.ts'
import { point } from '#tests/scheduler/walks.ts'
import { LoggableError } from '#shared/runtime/log.ts'

const END_MS = Date.UTC(3000, 0, 1)

const times = fc.integer({ min: 0, max: END_MS - 1 })
/** JSON knows no negative zero; neither does the table. */
const numbers = (min: number, max: number) =>
  fc.double({ min, max, noNaN: true }).map((value) => (value === 0 ? 0 : value))
const measures = fc.option(numbers(-1e9, 1e9))
const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', '"', '\\', 'null', '\u2028', 'a,"b"]', '🚶‍♀️ 香客', '\u0000', '\ud800'),
)

const MEASURABLE = Object.fromEntries(
  MEASUREMENTS.map((name) => [name, isNumeric(name) ? measures : fc.option(texts)]),
) as { [M in Measurement]: fc.Arbitrary<Point[M]> }

const points: fc.Arbitrary<Point> = fc.record({
  kind: fc.constantFrom('c', 't'),
  sentMs: times,
  recordedMs: times,
  receivedMs: times,
  lat: numbers(-90, 90),
  lng: numbers(-180, 180),
  ...MEASURABLE,
  inRange: fc.boolean(),
})

const plain = point({
  sentMs: 1_775_809_800_000,
  receivedMs: 1_775_809_900_000,
  lat: 23.5,
  lng: 120.25,
})

describe('packing', () => {
  test('and unpacking gives the same point, whatever text it carries', () => {
    fc.assert(
      fc.property(points, (point) => {
        expect(unpack(pack(point))).toEqual({ ...point, generation: 0 })
      }),
      { numRuns: 2_000 },
    )
  })

  test('is the same for the same point, so that a stored one is known again', () => {
    fc.assert(
      fc.property(points, (point) => {
        expect(pack(unpack(pack(point)))).toEqual(pack(point))
      }),
    )
  })

  test('leaves out what is absent at the end', () => {
    expect(pack(plain)).toEqual({ field: 't1775809800000', value: '[0,1775809900000,23.5,120.25,1]' })
    expect(pack({ ...plain, inRange: false, altitude: 12.5 }).value).toBe(
      '[0,1775809900000,23.5,120.25,0,null,12.5]',
    )
  })

  test('keeps the time sent in the field and the place in time beside it', () => {
    const corrected: Point = { ...plain, kind: 'c', recordedMs: plain.sentMs - 3_600_000 }
    expect(pack(corrected)).toEqual({
      field: 'c1775809800000',
      value: '[-3600000,1775809900000,23.5,120.25,1]',
    })
  })
})

test('identity is kind and time sent, nothing else', () => {
  fc.assert(
    fc.property(points, points, (a, b) => {
      expect(fieldOf({ ...a, kind: b.kind, sentMs: b.sentMs })).toBe(fieldOf(b))
      expect(fieldOf(a) === fieldOf(b)).toBe(a.kind === b.kind && a.sentMs === b.sentMs)
    }),
  )
  expect(fieldOf({ kind: 'c', sentMs: 5 })).not.toBe(fieldOf({ kind: 't', sentMs: 5 }))
})

describe('what `pack` did not write is refused', () => {
  const { field, value } = pack(plain)
  test.each([
    ['another kind', { field: `x${plain.sentMs}`, value }, LoggableError],
    ['no field', { field: '', value }, LoggableError],
    ['a time that is none', { field: 'cnow', value }, LoggableError],
    ['half a millisecond', { field: 't1.5', value }, LoggableError],
    ['an object', { field, value: '{}' }, LoggableError],
    ['a text among the numbers', { field, value: '[0,1,"23.5",120.25,1]' }, LoggableError],
    ['nothing where a number belongs', { field, value: '[0,1,23.5,120.25,null]' }, LoggableError],
    ['four numbers', { field, value: '[0,1,23.5,120.25]' }, LoggableError],
    ['null', { field, value: 'null' }, LoggableError],
    ['half an array', { field, value: value.slice(0, -4) }, SyntaxError],
    ['nothing', { field, value: '' }, SyntaxError],
  ])('%s', (_, entry, error) => {
    expect(() => unpack(entry)).toThrow(error)
  })
})

describe('the place of a check-in', () => {
  test('is read from its entry; any other value has none', () => {
    const corrected: Point = { ...plain, kind: 'c', recordedMs: plain.sentMs - 3_600_000 }
    const { sentMs, recordedMs, receivedMs, lat, lng } = corrected
    expect(checkInPositionOf(pack(corrected))).toEqual({ sentMs, recordedMs, receivedMs, lat, lng })
    for (const value of ['', 'nonsense', '[0,1,25.03]', '{}'])
      expect(checkInPositionOf({ field: 'c1', value })).toBeNull()
  })
})

describe('two check-ins at one instant', () => {
  const untimed = { ...plain, receivedMs: plain.sentMs }
  const timed = plain
  test.each([
    ['both without a timestamp', untimed, untimed, true],
    ['the first without a timestamp', untimed, timed, true],
    ['the second without a timestamp', timed, untimed, true],
    ['both with a timestamp', timed, timed, false],
    ['moved to the next free instant before', { ...untimed, receivedMs: untimed.sentMs - 1 }, timed, true],
    ['with a corrected clock', { ...untimed, recordedMs: untimed.sentMs - 1 }, timed, false],
  ])('%s: whether they share it by accident', (_, one, other, byAccident) => {
    expect(sharesInstantByAccident(one, { ...other, lat: other.lat + 1 })).toBe(byAccident)
    expect(sharesInstantByAccident(one, { ...other, lng: other.lng + 1 })).toBe(byAccident)
    // At the same place the second one is a repetition.
    expect(sharesInstantByAccident(one, other)).toBe(false)
  })
})
