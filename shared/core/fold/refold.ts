/**
 * Folds new points onto the stored days. Points in order are folded onto the last state. The day of a late point is
 * folded again from the end of the day before, and so is each later day until the state at a day's end is unchanged.
 */
import type { Calendar } from '#shared/core/rules/calendar.ts'
import { byInstant, type FoldPoint, type FoldState, isLate, sameState, START } from './fold.ts'
import { addDetailedTotals, emptyDetailedTotals, type DetailedTotals, totalPoints } from './point-totals.ts'

/** A stored local day of one pilgrim: its name and the fold's state at its end. */
export interface StoredDay {
  readonly day: string
  readonly end: FoldState
}

export interface DayChange {
  readonly day: string
  /** To be added to the day's totals; figures may be negative. */
  readonly delta: DetailedTotals
  readonly end: FoldState
}

/**
 * Computes one pilgrim's changes. It yields a day whose stored points it needs, and is resumed with them (in the area,
 * without the added ones). So the caller can read the points of many pilgrims together.
 * @param stored the days from the last one before the first added point on, ascending
 * @param added new points in the area, in any order, none of them stored
 */
export function* refold(
  stored: readonly StoredDay[],
  added: readonly FoldPoint[],
  calendar: Calendar,
): Generator<string, DayChange[], readonly FoldPoint[]> {
  const byDay = Map.groupBy([...added].sort(byInstant), (point) => calendar.day(point.t))
  const held = new Map(stored.map(({ day, end }) => [day, end]))
  const days = [...new Set([...held.keys(), ...byDay.keys()])].sort()
  const changes: DayChange[] = []
  // End of the previous day, as it was stored and as it is now.
  let was: FoldState = START
  let is: FoldState = START
  for (const day of days) {
    const fresh = byDay.get(day) ?? []
    const heldEnd = held.get(day)
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
    const old = yield day
    const before = totalPoints(was, [...old].sort(byInstant), calendar)
    const after = totalPoints(is, [...old, ...fresh].sort(byInstant), calendar)
    const delta = emptyDetailedTotals()
    addDetailedTotals(delta, after.totals)
    addDetailedTotals(delta, before.totals, -1)
    changes.push({ day, delta, end: after.end })
    was = heldEnd
    is = after.end
  }
  return changes
}
