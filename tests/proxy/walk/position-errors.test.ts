/**
 * The distance counted from positions with errors, from the phone through the service to the fold. The test
 * prints a table of nights and walks: `bun run test tests/proxy/walk/position-errors`.
 */
import { afterAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRandom } from '#tests/helpers/random.ts'
import { countedOf, errorModels, type Leg, phoneOf, recordedBy } from './position-errors.ts'

/** Correlation times of the errors in seconds: fast, as between houses, and slow, as satellites move. */
const CORRELATIONS_S = [60, 120, 300]
const SEEDS = [1, 2, 3, 4]
const NIGHT: readonly Leg[] = [{ minutes: 8 * 60, kmh: 0, hasSignal: true }]

const table: string[] = []
afterAll(() => console.log(['', ...table, ''].join('\n')))
const row = (...cells: string[]): string => cells.map((cell) => cell.padEnd(14)).join('')

test('a night of eight hours adds at most 0.3 km, whatever the error', () => {
  table.push(row('km in a night', 'each position', 'of the app', 'points'))
  for (const [i, { name }] of errorModels(0).entries()) {
    let [before, after, points] = [0, 0, 0]
    for (const correlationS of CORRELATIONS_S)
      for (const seed of SEEDS) {
        const { fixes } = phoneOf(NIGHT, errorModels(correlationS)[i]!, createRandom(seed), 30)
        const recorded = recordedBy(fixes)
        before = Math.max(before, countedOf(fixes).km)
        after = Math.max(after, countedOf(recorded).km)
        points = Math.max(points, recorded.length)
      }
    table.push(row(name, before.toFixed(2), after.toFixed(2), `${points}`))
    expect(after, name).toBeLessThanOrEqual(0.3)
    // One every ten minutes, plus the first ones.
    expect(points).toBeLessThanOrEqual(50)
  }
})

/**
 * A day on foot. Its last stretch may be missing, up to the radius of the circle: 25 m, or 210 m with only
 * Wi-Fi.
 */
const walks = fc.array(
  fc.record({
    walk: fc.record({
      minutes: fc.integer({ min: 15, max: 50 }),
      kmh: fc.double({ min: 1.5, max: 6, noNaN: true }),
    }),
    restMinutes: fc.constantFrom(0, 0, 4, 15, 45),
    tunnelMinutes: fc.constantFrom(0, 0, 0, 3, 12),
  }),
  { minLength: 8, maxLength: 12 },
)

const legsOf = (parts: typeof walks extends fc.Arbitrary<infer Parts> ? Parts : never): Leg[] => [
  ...parts.flatMap(({ walk, restMinutes, tunnelMinutes }) => [
    { ...walk, hasSignal: true },
    { minutes: restMinutes, kmh: 0, hasSignal: true },
    { minutes: tunnelMinutes, kmh: 4, hasSignal: false },
  ]),
  { minutes: 30, kmh: 4, hasSignal: true },
  { minutes: 10, kmh: 0, hasSignal: true },
]

test.each(errorModels(0).map(({ name }, i) => [name, i] as const))(
  'the distance of a walk with rests and tunnels is right to 3 %%, and none of it is a ride: %s',
  (name, i) => {
    let [least, most] = [0, 0]
    fc.assert(
      fc.property(
        walks,
        fc.constantFrom(...CORRELATIONS_S),
        fc.constantFrom(1, 5, 30),
        fc.nat(),
        (parts, correlationS, everyS, seed) => {
          const { fixes, km } = phoneOf(
            legsOf(parts),
            errorModels(correlationS)[i]!,
            createRandom(seed),
            everyS,
          )
          const counted = countedOf(recordedBy(fixes))
          const error = (counted.km / km - 1) * 100
          least = Math.min(least, error)
          most = Math.max(most, error)
          expect(counted.carbonKg).toBe(0)
          expect(Math.abs(error)).toBeLessThanOrEqual(3)
        },
      ),
      { seed: 54, numRuns: 60 },
    )
    if (i === 0) table.push(row('% of a walk', 'from', 'to'))
    table.push(row(name, least.toFixed(1), most.toFixed(1)))
  },
)
