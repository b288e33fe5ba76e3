/** Folds the new points of a slice onto what is stored, for all its pilgrims at once. */
import type { Query } from '#shared/db/db.ts'
import { readDays, readPointsOfDays } from '#shared/fold/stored-days.ts'
import type { Calendar } from '#shared/rules/calendar.ts'
import type { FoldPoint } from '#shared/rules/fold.ts'
import { type DayChange, refold } from '#shared/rules/refold.ts'
import type { OwnedPoint } from './store-points.ts'

/** What becomes of one pilgrim. */
export interface PilgrimChange {
  readonly userId: string
  readonly days: readonly DayChange[]
  /** Latest of the new points. */
  readonly latest: FoldPoint
  readonly earliest: FoldPoint
}

export const foldPointOf = (point: OwnedPoint): FoldPoint => ({
  kind: point.kind,
  sentMs: point.sentMs,
  t: point.recordedMs,
  lat: point.lat,
  lng: point.lng,
  mode: point.mode,
})

/**
 * Plans the changes of every pilgrim that has a new point in the area. The caller holds their rows' locks.
 * @param fresh new points, stored in this transaction already
 */
export async function foldPoints(
  tx: Query,
  fresh: readonly OwnedPoint[],
  calendar: Calendar,
): Promise<PilgrimChange[]> {
  const added = new Map<string, FoldPoint[]>()
  for (const point of fresh) {
    if (!point.inRange) continue
    const mine = added.get(point.userId)
    if (mine === undefined) added.set(point.userId, [foldPointOf(point)])
    else mine.push(foldPointOf(point))
  }
  const stored = await readDays(
    tx,
    [...added].map(([userId, points]) => ({
      userId,
      from: calendar.day(points.reduce((first, { t }) => Math.min(first, t), Infinity)),
    })),
  )
  const plans = [...added].map(([userId, points]) => ({
    userId,
    points,
    plan: refold(stored.get(userId) ?? [], points, calendar),
    days: null as DayChange[] | null,
    wants: null as string | null,
  }))
  const resume = (one: (typeof plans)[number], given?: readonly FoldPoint[]) => {
    const step = given === undefined ? one.plan.next() : one.plan.next(given)
    if (step.done) one.days = step.value
    one.wants = step.done ? null : step.value
  }
  for (const one of plans) resume(one)
  // Each round asks for one day of every pilgrim that still needs one.
  for (;;) {
    const asking = plans.filter(({ wants }) => wants !== null)
    if (asking.length === 0) break
    const wanted = asking.map(({ userId, wants }) => ({ userId, day: wants! }))
    const found = await readPointsOfDays(tx, wanted, calendar)
    for (const one of asking) {
      const sent = new Set(one.points.map((point) => `${point.kind}${point.sentMs}`))
      const old = (found.get(one.userId) ?? []).filter((point) => !sent.has(`${point.kind}${point.sentMs}`))
      resume(one, old)
    }
  }
  return plans.map(({ userId, points, days }) => ({
    userId,
    days: days!,
    latest: points.reduce((a, b) => (b.t >= a.t ? b : a)),
    earliest: points.reduce((a, b) => (b.t < a.t ? b : a)),
  }))
}
