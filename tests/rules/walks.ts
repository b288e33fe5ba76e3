/** Points by metres and seconds, and days of a pilgrim as reported by phones. */
import fc from 'fast-check'
import { type Calendar, createCalendar } from '#shared/core/rules/calendar.ts'
import type { FoldPoint, PointKind } from '#shared/core/distance/points-to-distance.ts'
import { EARTH_RADIUS_M } from '#shared/core/rules/geo.ts'

const DAY_MS = 86_400_000
const METRES_PER_DEGREE = (EARTH_RADIUS_M * Math.PI) / 180
/** On the equator a degree is as long in both directions. */
const ORIGIN = { lat: 0, lng: 120 }

/** A place this many metres north and east of the origin. */
export const placeAt = (northM: number, eastM = 0) => ({
  lat: ORIGIN.lat + northM / METRES_PER_DEGREE,
  lng: ORIGIN.lng + eastM / METRES_PER_DEGREE,
})

/** A track point, with changes. */
export const point = (t: number, northM: number, more: Partial<FoldPoint> = {}): FoldPoint => ({
  kind: 't',
  sentMs: more.t ?? t,
  t,
  ...placeAt(northM),
  mode: null,
  rough: false,
  ...more,
})

/** Identity of a point among those of its pilgrim. */
export const identity = ({ kind, sentMs }: Pick<FoldPoint, 'kind' | 'sentMs'>): string => `${kind}${sentMs}`

/** A pilgrim's movement between two points. */
type Move = 'rest' | 'stray' | 'move' | 'fly'

interface Step {
  readonly pauseMs: number
  /** Instead of a pause: jumps to this many milliseconds after the next midnight. */
  readonly midnight: number | null
  readonly move: Move
  readonly metres: number
  readonly kmh: number
  readonly turn: number
  readonly kinds: readonly PointKind[]
  readonly clockAheadMs: number
  readonly mode: string | null
  readonly rough: boolean
  /** Position in the order of arrival; the point's own number if it arrived at once. */
  readonly late: number
  readonly again: number | null
  readonly cut: boolean
}

const MODES = ['walk', 'car', 'bike', 'hsr', 'submarine']

/** A value once in `n + 1` times; otherwise null. */
const seldom = <T>(n: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: n, arbitrary: fc.constant(null) }, { weight: 1, arbitrary })

const steps: fc.Arbitrary<Step> = fc.record({
  pauseMs: fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 1_000, max: 29_000 }) },
    { weight: 2, arbitrary: fc.constantFrom(1, 29_999, 30_000, 30_001) },
    { weight: 8, arbitrary: fc.integer({ min: 30_000, max: 900_000 }) },
    { weight: 2, arbitrary: fc.integer({ min: 900_000, max: 14 * 3_600_000 }) },
  ),
  midnight: seldom(8, fc.constantFrom(-30_000, -10_000, -1, 0, 1, 10_000, 30_000)),
  move: fc.oneof(
    { weight: 3, arbitrary: fc.constant('rest' as const) },
    { weight: 8, arbitrary: fc.constant('move' as const) },
    { weight: 2, arbitrary: fc.constant('stray' as const) },
    { weight: 1, arbitrary: fc.constant('fly' as const) },
  ),
  metres: fc.oneof(fc.double({ min: 0, max: 9.99, noNaN: true }), fc.constantFrom(0, 9.99, 10)),
  kmh: fc.oneof(
    { weight: 6, arbitrary: fc.double({ min: 2, max: 6, noNaN: true }) },
    { weight: 2, arbitrary: fc.double({ min: 16, max: 120, noNaN: true }) },
    { weight: 1, arbitrary: fc.constantFrom(14.99, 15, 15.01, 299.9, 300, 300.1) },
  ),
  turn: fc.double({ min: 0, max: 2 * Math.PI, noNaN: true }),
  kinds: fc.oneof(
    { weight: 8, arbitrary: fc.constant(['t'] as const) },
    { weight: 2, arbitrary: fc.constant(['c'] as const) },
    { weight: 1, arbitrary: fc.constant(['c', 't'] as const) },
    { weight: 1, arbitrary: fc.constant(['c', 'c'] as const) },
  ),
  clockAheadMs: fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: DAY_MS - 1 }) },
    // Of two check-ins, the second is a millisecond further ahead.
    { weight: 1, arbitrary: fc.constant(DAY_MS - 1) },
  ),
  rough: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  mode: seldom(4, fc.constantFrom(...MODES)),
  late: fc.oneof(
    { weight: 8, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: fc.integer({ min: -5, max: 5 }) },
    { weight: 2, arbitrary: fc.integer({ min: -60, max: 60 }) },
  ),
  again: seldom(8, fc.integer({ min: -60, max: 60 })),
  cut: fc.boolean(),
})

/** The arrivals of a pilgrim's points. */
export interface History {
  readonly calendar: Calendar
  /** Distinct identities, in no particular order. */
  readonly points: readonly FoldPoint[]
  /** Points in order of arrival, some repeated; each batch is one flush. */
  readonly batches: readonly (readonly FoldPoint[])[]
}

function walkOf(calendar: Calendar, startMs: number, taken: readonly Step[]) {
  const points = new Map<string, FoldPoint>()
  const arrivals: { point: FoldPoint; order: number; cut: boolean }[] = []
  let t = startMs
  let north = 0
  let east = 0
  for (const [n, step] of taken.entries()) {
    const from = t
    const midnight = calendar.span(calendar.day(t))[1] + (step.midnight ?? 0)
    t = step.midnight === null || midnight <= t ? t + step.pauseMs : midnight
    const metres = { rest: step.metres, move: (step.kmh / 3_600_000) * (t - from), stray: 2e5, fly: 8e5 }[
      step.move
    ]
    const there = [north + metres * Math.cos(step.turn), east + metres * Math.sin(step.turn)] as const
    if (step.move !== 'stray') [north, east] = there
    for (const [i, kind] of step.kinds.entries()) {
      const ahead = kind === 'c' ? step.clockAheadMs + i : 0
      // Points of the same instant are some metres apart.
      const place = placeAt(there[0] + 7 * i, there[1] + 12 * i)
      const p: FoldPoint = {
        kind,
        sentMs: t + ahead,
        t,
        ...place,
        mode: i === 0 ? step.mode : null,
        rough: step.rough,
      }
      if (points.has(identity(p))) continue
      points.set(identity(p), p)
      arrivals.push({ point: p, order: n + step.late * (i + 1), cut: step.cut })
      if (step.again !== null) arrivals.push({ point: p, order: n + step.again, cut: false })
    }
  }
  return { points: [...points.values()], arrivals }
}

function historyOf(calendar: Calendar, startMs: number, taken: readonly Step[]): History {
  const { points, arrivals } = walkOf(calendar, startMs, taken)
  const batches: FoldPoint[][] = [[]]
  for (const { point, cut } of arrivals.sort((a, b) => a.order - b.order)) {
    if (cut && batches.at(-1)!.length > 0) batches.push([])
    batches.at(-1)!.push(point)
  }
  return { calendar, points, batches }
}

/** A zone, and the evening from which days are walked: a normal day, 23 hours, 25 hours, no midnight. */
const evenings = (
  [
    ['Asia/Taipei', '2026-04-10T13:00:00Z'],
    ['Europe/Berlin', '2026-03-28T20:00:00Z'],
    ['Europe/Berlin', '2026-10-24T20:00:00Z'],
    ['America/Santiago', '2026-09-06T01:00:00Z'],
  ] as const
).map(([zone, start]) => ({ calendar: createCalendar(zone), startMs: Date.parse(start) }))

/** Histories over several days and midnights: in order, late, days late, repeated, in batches of any size. */
export const histories = (maxSteps = 40): fc.Arbitrary<History> =>
  fc
    .tuple(fc.constantFrom(...evenings), fc.array(steps, { minLength: 1, maxLength: maxSteps, size: 'max' }))
    .map(([{ calendar, startMs }, taken]) => historyOf(calendar, startMs, taken))
