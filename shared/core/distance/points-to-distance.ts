/**
 * The fold: turns a pilgrim's points, ordered by time, into counted segments.
 *
 * A segment starts at the anchor, not at the previous point. So the distance of a phone that records every ten seconds
 * counts, although the specification skips segments under 30 s (shared/README.md, "Decisions").
 */
import { carbonMg, type Mode, modeBySpeed, modeNamed } from '#shared/core/rules/carbon.ts'
import { distanceMm, type Place } from '#shared/core/rules/geo.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'

/** A place at an instant (epoch milliseconds). */
export interface Fix extends Place {
  readonly t: number
}

export type PointKind = 'c' | 't'

/** The fields of a point that the fold reads: `c` check-in, `t` track point; `mode` as the client named it. */
export interface FoldPoint extends Fix {
  readonly kind: PointKind
  /** The time that the client sent: part of the point's identity, and the tie-breaker within an instant. */
  readonly sentMs: number
  readonly mode: string | null
  /** Counts as a point, and as a check-in, but never in the distance (`core/rules/geo.ts`). */
  readonly rough: boolean
}

/** The state between two points. `before` is the previous anchor after a jump that was too fast. */
export interface FoldState {
  readonly anchor: Fix | null
  readonly before: Fix | null
}

export const START: FoldState = { anchor: null, before: null }

/** A counted segment; it belongs to the hour and day of its end `t`. */
export interface Segment {
  readonly t: number
  readonly distanceMm: number
  readonly carbonMg: number
  readonly mode: Mode
}

/** A point less than this after the anchor changes nothing. */
export const MIN_ELAPSED_MS = 30_000
const MIN_DISTANCE_MM = 10_000

/** Faster than 300 km/h: 3.6 × mm/ms > 300, in whole numbers. */
export const isTooFast = (mm: number, elapsedMs: number): boolean => mm * 36 > 3_000 * elapsedMs

/** The order of the fold: by instant, then check-ins before track points, then by the time sent. */
export const byInstant = (a: FoldPoint, b: FoldPoint): number =>
  a.t - b.t || (a.kind === b.kind ? a.sentMs - b.sentMs : a.kind === 'c' ? -1 : 1)

/** Whether a point is at or before the anchor, so that it cannot be folded onto this state. */
export const isLate = (state: FoldState, t: number): boolean => state.anchor !== null && t <= state.anchor.t

export const sameState = (a: FoldState, b: FoldState): boolean =>
  sameFix(a.anchor, b.anchor) && sameFix(a.before, b.before)

const sameFix = (a: Fix | null, b: Fix | null): boolean =>
  a === b || (a !== null && b !== null && a.t === b.t && a.lat === b.lat && a.lng === b.lng)

/**
 * Folds points (ordered by `byInstant`, inside the event's area) onto a state.
 * A further point at the same instant changes nothing.
 * @param emit called for each counted segment, in order
 * @returns the state after the last point
 */
export function fold(
  state: FoldState,
  points: readonly FoldPoint[],
  emit: (segment: Segment, elapsedMs: number) => void,
): FoldState {
  let { anchor, before } = state
  for (let i = 0; i < points.length; i++) {
    const p = points[i]!
    if (p.rough) continue
    if (anchor === null) {
      anchor = fixOf(p)
      continue
    }
    const elapsedMs = p.t - anchor.t
    if (elapsedMs < MIN_ELAPSED_MS) continue
    const mm = distanceMm(anchor, p)
    if (mm < MIN_DISTANCE_MM) {
      anchor = { lat: anchor.lat, lng: anchor.lng, t: p.t }
      before = null
    } else if (isTooFast(mm, elapsedMs)) {
      if (before !== null && !isTooFast(distanceMm(before, p), p.t - before.t)) {
        // The jump was a single wrong fix: continue from the previous anchor, and fold this point again.
        anchor = before
        before = null
        i--
      } else {
        before = anchor
        anchor = fixOf(p)
      }
    } else {
      const mode = p.mode === null ? modeBySpeed(mm, elapsedMs) : modeNamed(p.mode)
      emit({ t: p.t, distanceMm: mm, carbonMg: carbonMg(mm, mode), mode }, elapsedMs)
      anchor = fixOf(p)
      before = null
    }
  }
  return { anchor, before }
}

export const fixOf = ({ lat, lng, t }: Fix): Fix => ({ lat, lng, t })

// Totals of one pilgrim's points: the same figures for a day, an hour and a mode.

/** Whole numbers: millimetres, milligrams, counts. */
export interface Totals {
  points: number
  checkins: number
  distanceMm: number
  carbonMg: number
}

export interface ModeTotals {
  distanceMm: number
  carbonMg: number
}

export interface DetailedTotals extends Totals {
  /** Totals by start of the local hour, epoch milliseconds. */
  readonly hours: Map<number, Totals>
  readonly modes: Map<Mode, ModeTotals>
}

export const zeroTotals = (): Totals => ({ points: 0, checkins: 0, distanceMm: 0, carbonMg: 0 })
export const emptyDetailedTotals = (): DetailedTotals => ({
  ...zeroTotals(),
  hours: new Map(),
  modes: new Map(),
})

/** Adds `sign` times the figures. */
export function addTotals(into: Totals, sums: Totals, sign: 1 | -1 = 1): void {
  into.points += sign * sums.points
  into.checkins += sign * sums.checkins
  into.distanceMm += sign * sums.distanceMm
  into.carbonMg += sign * sums.carbonMg
}

/** Adds `sign` times the totals, hour by hour and mode by mode. */
export function addDetailedTotals(into: DetailedTotals, totals: DetailedTotals, sign: 1 | -1 = 1): void {
  addTotals(into, totals, sign)
  for (const [hour, sums] of totals.hours)
    addTotals(into.hours.getOrInsertComputed(hour, zeroTotals), sums, sign)
  for (const [mode, sums] of totals.modes) {
    const target = into.modes.getOrInsertComputed(mode, () => ({ distanceMm: 0, carbonMg: 0 }))
    target.distanceMm += sign * sums.distanceMm
    target.carbonMg += sign * sums.carbonMg
  }
}

/** Folds points (ordered, in the area) onto a state and adds up their totals. */
export function totalPoints(
  state: FoldState,
  points: readonly FoldPoint[],
  calendar: Calendar,
  totals = emptyDetailedTotals(),
): { readonly totals: DetailedTotals; readonly end: FoldState } {
  for (const { t, kind } of points) {
    const hour = totals.hours.getOrInsertComputed(calendar.hourStart(t), zeroTotals)
    const checkin = kind === 'c' ? 1 : 0
    hour.points++
    hour.checkins += checkin
    totals.points++
    totals.checkins += checkin
  }
  const end = fold(state, points, ({ t, distanceMm, carbonMg, mode }) => {
    const hour = totals.hours.getOrInsertComputed(calendar.hourStart(t), zeroTotals)
    const byMode = totals.modes.getOrInsertComputed(mode, () => ({ distanceMm: 0, carbonMg: 0 }))
    for (const sums of [totals, hour, byMode]) {
      sums.distanceMm += distanceMm
      sums.carbonMg += carbonMg
    }
  })
  return { totals, end }
}

// Folds new points onto the stored days. Points in order are folded onto the last state. The day of a late point is
// folded again from the end of the day before, and so is each later day until the state at a day's end is unchanged.

/** A stored local day of one pilgrim: its name and the fold's state at its end. */
export interface StoredDay {
  readonly day: string
  readonly end: FoldState
}

export interface DayChange {
  readonly day: string
  /** What is added to the day's totals; figures may be negative. */
  readonly delta: DetailedTotals
  readonly end: FoldState
}

/** A page of a day's stored points in the area. Its points are later than those of the page before. */
export interface Page {
  /** In any order. */
  readonly points: readonly FoldPoint[]
  /** No other page of the day follows. */
  readonly isLast: boolean
}

/**
 * Computes one pilgrim's changes. It yields a day whose stored points it needs, and is resumed with a page of them
 * (without the added ones) until the last one. So the caller can read the points of many pilgrims together, and those of a
 * long day in bounded memory.
 * @param stored the days from the last one before the first added point on, ascending
 * @param added new points in the area, in any order, none of them stored
 */
export function* refold(
  stored: readonly StoredDay[],
  added: readonly FoldPoint[],
  calendar: Calendar,
): Generator<string, DayChange[], Page> {
  const byDay = Map.groupBy([...added].sort(byInstant), (point) => calendar.day(point.t))
  const endOfDay = new Map(stored.map(({ day, end }) => [day, end]))
  const days = [...new Set([...endOfDay.keys(), ...byDay.keys()])].sort()
  const changes: DayChange[] = []
  // State at the end of the previous day: as stored, and as it is now.
  let was: FoldState = START
  let is: FoldState = START
  for (const day of days) {
    const fresh = byDay.get(day) ?? []
    const heldEnd = endOfDay.get(day)
    const moved = !sameState(was, is)
    if (fresh.length === 0 && !moved) {
      was = is = heldEnd!
      continue
    }
    const base = heldEnd ?? is
    if (heldEnd === undefined || (!moved && !isLate(base, fresh[0]!.t))) {
      const { totals, end } = totalPoints(base, fresh, calendar)
      changes.push({ day, delta: totals, end })
      was = heldEnd ?? was
      is = end
      continue
    }
    let before = totalPoints(was, [], calendar)
    let after = totalPoints(is, [], calendar)
    let page: Page
    let from = 0
    do {
      page = yield day
      const old = [...page.points].sort(byInstant)
      const last = page.isLast ? undefined : old.at(-1)
      // New points after the end of this page wait: the next page may have stored points before them.
      let to = last === undefined && !page.isLast ? from : fresh.length
      while (last !== undefined && to > from && byInstant(fresh[to - 1]!, last) > 0) to--
      before = totalPoints(before.end, old, calendar, before.totals)
      const both = [...old, ...fresh.slice(from, to)].sort(byInstant)
      after = totalPoints(after.end, both, calendar, after.totals)
      from = to
    } while (!page.isLast)
    const delta = emptyDetailedTotals()
    addDetailedTotals(delta, after.totals)
    addDetailedTotals(delta, before.totals, -1)
    changes.push({ day, delta, end: after.end })
    was = heldEnd
    is = after.end
  }
  return changes
}

/** Folds all points of a pilgrim from the beginning, page by page, so that no walk is too long for the memory. */
export class WholeFold {
  readonly #calendar: Calendar
  readonly #days = new Map<string, Omit<DayChange, 'day'>>()
  #end = START

  constructor(calendar: Calendar) {
    this.#calendar = calendar
  }

  /** @param points in the area; they and the pages before are in the order of `byInstant` */
  add(points: readonly FoldPoint[]): void {
    for (const [day, ofDay] of Map.groupBy(points, ({ t }) => this.#calendar.day(t))) {
      const { totals, end } = totalPoints(this.#end, ofDay, this.#calendar, this.#days.get(day)?.delta)
      this.#days.set(day, { delta: totals, end })
      this.#end = end
    }
  }

  days(): DayChange[] {
    return Array.from(this.#days, ([day, change]) => ({ day, ...change }))
  }
}

/** Outcome of a point inside the area; its values are explained in `contracts/user-history.ts`. */
export interface ExplainedPoint {
  readonly outcome: 'first' | 'counted' | 'too-soon' | 'too-near' | 'too-fast' | 'same-instant' | 'rough'
  /** Length of the segment that ends here; 0 if there is none. */
  readonly distanceMm: number
  /** How that segment was travelled; null if there is none. */
  readonly travelled: Mode | null
}

/**
 * Folds points one by one, which gives the same sum as folding them together.
 * @param points ordered by `byInstant`, inside the area
 */
export function explainPoints(from: FoldState, points: readonly FoldPoint[]): ExplainedPoint[] {
  let state = from
  return points.map((point) => {
    let segment: Segment | null = null
    const before = state
    state = fold(before, [point], (counted) => (segment = counted))
    return { outcome: outcomeOf(before, state, point, segment), ...lengthOf(segment) }
  })
}

const lengthOf = (segment: Segment | null) => ({
  distanceMm: segment?.distanceMm ?? 0,
  travelled: segment?.mode ?? null,
})

function outcomeOf(
  before: FoldState,
  after: FoldState,
  point: FoldPoint,
  segment: Segment | null,
): ExplainedPoint['outcome'] {
  if (segment !== null) return 'counted'
  if (point.rough) return 'rough'
  if (before.anchor === null) return 'first'
  if (after.before !== null && after.before !== before.before) return 'too-fast'
  if (after.anchor !== before.anchor) return 'too-near'
  return point.t === before.anchor.t ? 'same-instant' : 'too-soon'
}
