/** Folds the new points of a slice onto what is stored, for all its pilgrims at once. */
import type { Point } from '#shared/buffer/point.ts'
import type { Query } from '#shared/db/db.ts'
import { readDays, readPointsOfDays } from '#shared/fold/stored-days.ts'
import type { Calendar } from '#shared/rules/calendar.ts'
import { byInstant, type FoldPoint } from '#shared/fold/fold.ts'
import { type DayChange, refold } from '#shared/fold/refold.ts'

import type { OwnedPoint } from './store-points.ts'

/** What becomes of one pilgrim. */
export interface PilgrimChange {
  readonly userId: string
  readonly days: readonly DayChange[]
  /** First and last of the new points; of several at the last instant the one that the fold takes. */
  readonly earliest: FoldPoint
  readonly latest: FoldPoint
}

/** A pilgrim's new points in the area, and the day whose stored points their plan waits for. */
interface Plan {
  readonly userId: string
  readonly points: readonly FoldPoint[]
  readonly steps: ReturnType<typeof refold>
  days: DayChange[]
  wants: string | null
}

const foldPointOf = ({ kind, sentMs, recordedMs, lat, lng, mode }: Point): FoldPoint => ({
  kind,
  sentMs,
  t: recordedMs,
  lat,
  lng,
  mode,
})

/**
 * Plans the changes of every pilgrim that has a new point in the area. The caller holds their rows' locks.
 * @param fresh new points, none of them stored yet
 */
export async function foldPoints(
  tx: Query,
  fresh: readonly OwnedPoint[],
  calendar: Calendar,
): Promise<PilgrimChange[]> {
  const added = new Map<string, FoldPoint[]>()
  for (const { userId, point } of fresh)
    if (point.inRange) added.getOrInsertComputed(userId, () => [] as FoldPoint[]).push(foldPointOf(point))
  for (const points of added.values()) points.sort(byInstant)
  const asked = [...added].map(([userId, points]) => ({ userId, from: calendar.day(points[0]!.t) }))
  const stored = await readDays(tx, asked)
  const plans = [...added].map(([userId, points]): Plan => {
    const steps = refold(stored.get(userId) ?? [], points, calendar)
    const plan: Plan = { userId, points, steps, days: [], wants: null }
    take(plan, steps.next())
    return plan
  })
  await readLateDays(tx, plans, calendar)
  return plans.map(({ userId, points, days }) => {
    const last = points.at(-1)!
    return { userId, days, earliest: points[0]!, latest: points.find(({ t }) => t === last.t)! }
  })
}

function take(plan: Plan, step: IteratorResult<string, DayChange[]>): void {
  if (step.done) plan.days = step.value
  plan.wants = step.done ? null : step.value
}

/** Brings plans to their end: each round reads one day of every pilgrim that still needs one. */
async function readLateDays(tx: Query, plans: readonly Plan[], calendar: Calendar): Promise<void> {
  for (;;) {
    const waiting = plans.filter(({ wants }) => wants !== null)
    if (waiting.length === 0) return
    const asked = waiting.map(({ userId, wants }) => ({ userId, day: wants! }))
    const found = await readPointsOfDays(tx, asked, calendar)
    for (const plan of waiting) take(plan, plan.steps.next(found.get(plan.userId) ?? []))
  }
}
