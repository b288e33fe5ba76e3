import { describe, expect, test } from 'bun:test'
import { carbonMg, KG_PER_UNIT, modeBySpeed, modeNamed, MODES } from '#shared/core/rules/carbon.ts'

const KM = 1_000_000
const HOUR_MS = 3_600_000

/** Specification, "Carbon coefficients": kg CO2e per km. */
const TABLE = [
  ['walk', 0],
  ['car', 0.30479],
  ['scooter', 0.13734],
  ['bike', 0.0122],
  ['bus', 0.47515],
  ['mrt', 0.07575],
  ['train', 0.07575],
  ['hsr', 0.07487],
] as const

describe('coefficients', () => {
  test.each(TABLE)('%s: %p kg per km', (mode, kg) => {
    expect(modeNamed(mode)).toBe(mode)
    expect(carbonMg(KM, mode)).toBe(Math.round(kg * 1e6))
    expect(carbonMg(1_000 * KM, mode)).toBe(Math.round(kg * 1e9))
  })

  test('no mode beside these', () => {
    expect(MODES).toEqual(TABLE.map(([mode]) => mode))
  })

  test('bottles, recycled bottles and nights', () => {
    expect(KG_PER_UNIT).toEqual({ water: 0.10974, recycle: -0.00265, hotel: 8.85 })
  })

  test('carbon is rounded to whole milligrams, once', () => {
    // 0.47515 mg per mm: 4,751.5 and 4,751.97515 and 4,752.45030
    expect([10_000, 10_001, 10_002].map((mm) => carbonMg(mm, 'bus'))).toEqual([4_752, 4_752, 4_752])
    expect(carbonMg(0, 'bus')).toBe(0)
  })
})

describe('a mode that the table does not know is a bus', () => {
  test.each([
    'submarine',
    '',
    'Walk',
    ' walk',
    'water',
    'recycle',
    'hotel',
    'constructor',
    '__proto__',
    'toString',
  ])('%p', (name) => {
    expect(modeNamed(name)).toBe('bus')
  })
})

describe('the mode inferred from speed', () => {
  test.each([
    [0, 'walk'],
    [4.5, 'walk'],
    [14.999999, 'walk'],
    [15, 'walk'],
    [15.000001, 'bus'],
    [15.01, 'bus'],
    [300, 'bus'],
  ] as const)('%p km/h: %s', (kmh, mode) => {
    expect(modeBySpeed(Math.round(kmh * KM), HOUR_MS)).toBe(mode)
  })

  test('15 km/h is exact over short times, too', () => {
    // 125 m in 30 s
    expect(modeBySpeed(125_000, 30_000)).toBe('walk')
    expect(modeBySpeed(125_001, 30_000)).toBe('bus')
    expect(modeBySpeed(125_001, 30_001)).toBe('walk')
  })
})
