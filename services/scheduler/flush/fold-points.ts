/** Folds the new points of a slice onto the stored days, for all its pilgrims together. */
import { foldPointOf } from '#shared/points/point.ts'
import type { Query } from '#shared/stores/db/db.ts'
import { readDays, readPointsOfDays } from '#shared/points/totals/stored-days.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import { byInstant, type FoldPoint } from '#shared/core/fold/fold.ts'
import { type DayChange, refold } from '#shared/core/fold/refold.ts'
import type { OwnedPoint } from './store-points.ts'

/** The changes of one pilgrim. */
export interface PilgrimChange {
  readonly userId: string
  readonly days: readonly DayChange[]
  /** First and last of the new points. Of several at the last instant, the one that the fold counts. */
  readonly earliest: FoldPoint
  readonly latest: FoldPoint
}

/** A pilgrim's new points in the area, and the day whose stored points their refold needs next. */
interface Plan {
  readonly userId: string
  readonly points: readonly FoldPoint[]
  readonly steps: ReturnType<typeof refold>
  /** Number of stored points of each of their stored days. */
  readonly storedPoints: ReadonlyMap<string, number>
  days: DayChange[]
  neededDay: string | null
}

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
  const requested = [...added].map(([userId, points]) => ({ userId, from: calendar.day(points[0]!.t) }))
  const stored = await readDays(tx, requested)
  const plans = [...added].map(([userId, points]): Plan => {
    const storedDays = stored.get(userId) ?? []
    const steps = refold(storedDays, points, calendar)
    const storedPoints = new Map(storedDays.map((day) => [day.day, day.points]))
    const plan: Plan = { userId, points, steps, storedPoints, days: [], neededDay: null }
    advance(plan, steps.next())
    return plan
  })
  await readLateDays(tx, plans, calendar)
  return plans.map(({ userId, points, days }) => {
    const last = points.at(-1)!
    return { userId, days, earliest: points[0]!, latest: points.find(({ t }) => t === last.t)! }
  })
}

function advance(plan: Plan, step: IteratorResult<string, DayChange[]>): void {
  if (step.done) plan.days = step.value
  plan.neededDay = step.done ? null : step.value
}

/**
 * Stored points that are read at once. A slice has few points of each pilgrim, but the days of late ones may have
 * thousands each.
 */
const POINTS_A_READ = 10_000

/** Completes the plans. Each round reads one day of every pilgrim that still needs one, some pilgrims at a time. */
async function readLateDays(tx: Query, plans: readonly Plan[], calendar: Calendar): Promise<void> {
  for (;;) {
    const incomplete = plans.filter(({ neededDay }) => neededDay !== null)
    if (incomplete.length === 0) return
    for (const chunk of chunks(incomplete)) {
      const requested = chunk.map(({ userId, neededDay }) => ({ userId, day: neededDay! }))
      const found = await readPointsOfDays(tx, requested, calendar)
      for (const plan of chunk) advance(plan, plan.steps.next(found.get(plan.userId) ?? []))
    }
  }
}

/** Cuts plans so that the days that they need have at most {@link POINTS_A_READ} points together; at least one plan. */
function* chunks(plans: readonly Plan[]): Generator<Plan[]> {
  let chunk: Plan[] = []
  let size = 0
  for (const plan of plans) {
    const points = plan.storedPoints.get(plan.neededDay!) ?? 0
    if (chunk.length > 0 && size + points > POINTS_A_READ) {
      yield chunk
      chunk = []
      size = 0
    }
    chunk.push(plan)
    size += points
  }
  if (chunk.length > 0) yield chunk
}
