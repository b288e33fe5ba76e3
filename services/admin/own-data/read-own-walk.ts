/** A pilgrim's own way: the sums of all days, and one day as the fold counted it. Pending points are included. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { OwnWalk, OwnWalkRequest } from '#shared/contracts/own-data.ts'
import { peekWithin, peekWithTimeout } from '#shared/buffer/read-pending-points.ts'
import type { Query } from '#shared/db/db.ts'
import { type FoldPoint, type FoldState, START } from '#shared/fold/fold.ts'
import { createKeeper } from '#shared/fold/keep-statistics.ts'
import { addedPoints, MANY_PENDING, pendingPoints } from '#shared/fold/pilgrim-statistics.ts'
import { addTotals, type Totals, zeroTotals } from '#shared/fold/point-totals.ts'
import { type DayChange, refold } from '#shared/fold/refold.ts'
import { readDays, readPointsOfDays } from '#shared/fold/stored-days.ts'
import { readStored } from '#shared/fold/stored-pilgrims.ts'
import { fieldOf, type Point } from '#shared/buffer/point.ts'
import type { Calendar } from '#shared/rules/calendar.ts'
import { roundKg, roundKm } from '#shared/rules/rounding.ts'
import { expectOwnId } from '#shared/security/expect-own-id.ts'
import { type Day, describeDay } from './describe-day.ts'
import { readCheckIns, readCountablePoints } from './read-day.ts'

/** Before every day of the calendar. */
const FIRST_DAY = '0001-01-01'

/** One pilgrim's stored and pending points in one snapshot. */
interface Snapshot {
  readonly tx: Query
  readonly calendar: Calendar
  readonly userId: string
  /** Pending points that are not stored. */
  readonly waiting: readonly Point[]
}

/**
 * Reads the way. Without the buffer it has stored points only, and says so.
 * @throws Refusal 403 for an id that others may know
 */
export async function readOwnWalk(context: ServiceContext, asked: OwnWalkRequest): Promise<OwnWalk> {
  const { config, db, kv } = context
  const { user_id: userId, day = '' } = asked
  expectOwnId(config, userId)
  const [pending] = (await peekWithin(kv.pendingOf([userId]))) ?? [0]
  if (pending! <= MANY_PENDING) return readNow(context, asked)
  return keepOfMany(db, `${userId} ${day}`, pending, () => readNow(context, asked))
}

const keepOfMany = createKeeper<OwnWalk>()

async function readNow(
  { db, kv, calendar, now }: ServiceContext,
  { user_id: userId, day: wanted }: OwnWalkRequest,
): Promise<OwnWalk> {
  const entries = (await peekWithTimeout(kv, [userId]))?.[0] ?? null
  const pending = pendingPoints(entries ?? [])
  return db.read(() =>
    db.sql.begin('isolation level repeatable read read only', async (tx) => {
      const stored = (await readStored(tx, [{ userId, pending }])).get(userId)!
      const waiting = pending.filter((point) => !stored.known.has(fieldOf(point)))
      const snapshot = { tx, calendar, userId, waiting }
      const added = addedPoints(pending, stored)
      const changes = await refoldPending(snapshot, added)
      const days = await sumDays(snapshot, changes)
      const day = wanted ?? [...days.keys()].at(-1) ?? null
      const shown = day === null ? null : describeDay(await readDay(snapshot, added, changes, day))
      return {
        userId,
        as_of: time(now()),
        pending: entries === null ? null : pending.length,
        days: Array.from(days, ([name, sums]) => ({
          day: name,
          km: roundKm(sums.distanceMm),
          checkins: sums.checkins,
          carbon_kg: roundKg(sums.carbonMg),
        })),
        day,
        line: shown?.line ?? [],
        stretches: shown?.stretches ?? [],
        checkins: shown?.checkins ?? [],
      }
    }),
  )
}

/** The changes of days by pending points. */
async function refoldPending(
  { tx, calendar, userId }: Snapshot,
  added: readonly FoldPoint[],
): Promise<readonly DayChange[]> {
  if (added.length === 0) return []
  const days = await readDays(tx, [{ userId, from: calendar.day(added[0]!.t) }])
  const plan = refold(days.get(userId) ?? [], added, calendar)
  let step = plan.next()
  while (!step.done) {
    const points = await readPointsOfDays(tx, [{ userId, day: step.value }], calendar)
    step = plan.next(points.get(userId) ?? [])
  }
  return step.value
}

async function sumDays(
  { tx, userId }: Snapshot,
  changes: readonly DayChange[],
): Promise<ReadonlyMap<string, Totals>> {
  const rows = await tx<(Totals & { readonly day: string })[]>`
    SELECT day::text AS day, points, checkins, distance_mm::float8 AS "distanceMm", carbon_mg::float8 AS "carbonMg"
    FROM pilgrim_days WHERE user_id = ${userId} ORDER BY day`
  const days = new Map<string, Totals>(rows.map(({ day, ...sums }) => [day, sums]))
  for (const { day, delta } of changes) addTotals(days.getOrInsertComputed(day, zeroTotals), delta)
  return new Map([...days].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** One day's points as far as they are needed, and the state in which the day begins. */
async function readDay(
  { tx, calendar, userId, waiting }: Snapshot,
  added: readonly FoldPoint[],
  changes: readonly DayChange[],
  day: string,
): Promise<Day> {
  const ends = new Map<string, FoldState>()
  for (const { day: name, end } of (await readDays(tx, [{ userId, from: FIRST_DAY }])).get(userId) ?? [])
    ends.set(name, end)
  for (const { day: name, end } of changes) ends.set(name, end)
  const before = [...ends.keys()]
    .filter((name) => name < day)
    .sort()
    .at(-1)
  const start = (before === undefined ? undefined : ends.get(before)) ?? START
  const asked = { userId, span: calendar.span(day) }
  const addedOfDay = added.filter(({ t }) => calendar.day(t) === day)
  const waitingOfDay = waiting.filter(({ recordedMs }) => calendar.day(recordedMs) === day)
  return {
    points: await readCountablePoints(tx, asked, addedOfDay, start.anchor?.t ?? null),
    start,
    checkIns: await readCheckIns(tx, asked, waitingOfDay),
  }
}
