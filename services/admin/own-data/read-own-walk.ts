/**
 * A pilgrim's own walk: totals of each day, and one day in detail as the fold counted it. Pending points are included.
 */
import type { ServiceContext } from '#shared/service/context.ts'
import { time } from '#shared/contracts/fields.ts'
import { type OwnWalk, type OwnWalkRequest, MAX_CHECKINS } from '#shared/contracts/own-data.ts'
import { peekWithin, readPendingOf } from '#shared/points/pending-points.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import {
  addTotals,
  type DayChange,
  type Fix,
  fold,
  type FoldPoint,
  type FoldState,
  MIN_ELAPSED_MS,
  type Segment,
  START,
  type Totals,
  zeroTotals,
} from '#shared/core/distance/points-to-distance.ts'
import {
  createKeeper,
  addedPoints,
  MANY_PENDING,
  refoldPending,
  readStored,
} from '#shared/points/totals/pilgrim-statistics.ts'
import { IS_ROUGH, inSpan, readDays } from '#shared/points/totals/stored-days.ts'
import { fieldOf, type Point } from '#shared/points/point.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import { roundKg, roundKm } from '#shared/core/rules/rounding.ts'
import { distanceMm } from '#shared/core/rules/geo.ts'

/** Before every day of the calendar. */
const FIRST_DAY = '0001-01-01'

interface Snapshot {
  readonly tx: Tx
  readonly calendar: Calendar
  readonly userId: string
  /** Pending points that are not stored. */
  readonly waiting: readonly Point[]
}

/** Reads the walk. Without the buffer it contains only stored points, and is marked so. */
export async function readOwnWalk(context: ServiceContext, asked: OwnWalkRequest): Promise<OwnWalk> {
  const { db, kv } = context
  const { user_id: userId, day = '' } = asked
  const [pending] = (await peekWithin(kv.pendingOf([userId]))) ?? [0]
  if (pending! <= MANY_PENDING) return readNow(context, asked)
  return keepOfMany(db, `${userId} ${day ?? ''}`, pending, () => readNow(context, asked))
}

const keepOfMany = createKeeper<OwnWalk>()

async function readNow(
  { db, kv, calendar, now }: ServiceContext,
  { user_id: userId, day: wanted }: OwnWalkRequest,
): Promise<OwnWalk> {
  const buffered = await readPendingOf(kv, userId)
  const pending = buffered ?? []
  return db.read(() =>
    db.snapshot(async (tx) => {
      const stored = (await readStored(tx, [{ userId, pending }])).get(userId)!
      const waiting = pending.filter((point) => !stored.known.has(fieldOf(point)))
      const snapshot = { tx, calendar, userId, waiting }
      const added = addedPoints(pending, stored)
      const changes = await refoldPending(tx, calendar, userId, added)
      const days = await sumDays(snapshot, changes)
      const day = wanted ?? [...days.keys()].at(-1) ?? null
      const shown = day === null ? null : describeDay(await readDay(snapshot, added, changes, day))
      return {
        userId,
        as_of: time(now()),
        pending: buffered && buffered.length,
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

async function sumDays(
  { tx, userId }: Snapshot,
  changes: readonly DayChange[],
): Promise<ReadonlyMap<string, Totals>> {
  const rows = await tx.sql<(Totals & { readonly day: string })[]>`
    SELECT day::text AS day, points, checkins, distance_mm::float8 AS "distanceMm", carbon_mg::float8 AS "carbonMg"
    FROM pilgrim_days WHERE user_id = ${userId} ORDER BY day`
  const days = new Map<string, Totals>(rows.map(({ day, ...sums }) => [day, sums]))
  for (const { day, delta } of changes) addTotals(days.getOrInsertComputed(day, zeroTotals), delta)
  return new Map([...days].sort(([a], [b]) => (a < b ? -1 : 1)))
}

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

interface Day {
  /**
   * Points inside the event's area, in the fold's order; without those it skips as too close in time to the previous
   * one.
   */
  readonly points: readonly FoldPoint[]
  /** The fold's state at the end of the previous day. */
  readonly start: FoldState
  readonly checkIns: readonly DayCheckIn[]
}

interface Counted extends Segment {
  readonly from: Fix
  readonly to: Fix
  readonly inferred: boolean
}

interface Sum {
  readonly first: Counted
  last: Counted
  mm: number
  mg: number
  elapsedMs: number
}

export function describeDay({
  points,
  start,
  checkIns,
}: Day): Pick<OwnWalk, 'line' | 'stretches' | 'checkins'> {
  const counted = countSegments(points, start)
  const first = counted[0]?.from ?? points[0]
  const line = [...(first === undefined ? [] : [first]), ...counted.map(({ to }) => to)]
  return {
    line: line.map(placed),
    stretches: join(counted).map(shown),
    checkins: checkIns.map((at) => ({ ...placed(at), in_range: at.inRange })),
  }
}

const placed = ({ t, lat, lng }: Fix) => ({ t: time(t), lat, lng })

/** Folds one point at a time, so that the start of each counted segment is known. */
function countSegments(points: readonly FoldPoint[], start: FoldState): Counted[] {
  const counted: Counted[] = []
  let state = start
  for (const point of points) {
    const { anchor, before } = state
    state = fold(state, [point], (segment) => {
      // After a jump caused by a single wrong fix, the segment begins at the previous anchor.
      const from = [anchor, before].find((fix) => fix && distanceMm(fix, point) === segment.distanceMm)
      counted.push({ ...segment, from: from ?? anchor!, to: point, inferred: point.mode === null })
    })
  }
  return counted
}

function join(counted: readonly Counted[]): Sum[] {
  const sums: Sum[] = []
  for (const part of counted) {
    const elapsedMs = part.to.t - part.from.t
    const last = sums.at(-1)
    if (last !== undefined && belongs(last, part)) {
      last.last = part
      last.mm += part.distanceMm
      last.mg += part.carbonMg
      last.elapsedMs += elapsedMs
    } else sums.push({ first: part, last: part, mm: part.distanceMm, mg: part.carbonMg, elapsedMs })
  }
  return sums
}

/** A night or a long silence is a separate stretch, so that it does not lower the speed of the others. */
const LONG_MS = 3_600_000
const isLong = ({ from, to }: Counted): boolean => to.t - from.t > LONG_MS

const belongs = ({ first, last }: Sum, part: Counted): boolean =>
  first.mode === part.mode && first.inferred === part.inferred && !isLong(part) && !isLong(last)

const shown = ({ first, last, mm, mg, elapsedMs }: Sum): OwnWalk['stretches'][number] => ({
  from: time(first.from.t),
  to: time(last.to.t),
  mode: first.mode,
  inferred: first.inferred,
  km: roundKm(mm),
  // mm per ms is m/s.
  speed_kmh: Math.round((mm / elapsedMs) * 36) / 10,
  carbon_kg: roundKg(mg),
})

// Reads one day. A phone may record every second, so the query returns only the points that the fold can use; their
// number is bounded by the length of the day.

interface DayAsked {
  readonly userId: string
  /** Start of the day and of the next one, epoch milliseconds. */
  readonly span: readonly [number, number]
}

interface DayCheckIn extends Fix {
  readonly inRange: boolean
}

/**
 * The points that can change the fold, in its order: the first point that is in the area and not rough, then each first
 * point at least `MIN_ELAPSED_MS` after the previous one. The fold skips all others, so the segments are the same. At
 * most 2,882 points in 24 hours.
 * @param added pending points of the day
 * @param anchorMs time of the anchor with which the day begins; null: there is none
 */
export async function readCountablePoints(
  tx: Tx,
  day: DayAsked,
  added: readonly FoldPoint[],
  anchorMs: number | null,
): Promise<FoldPoint[]> {
  return tx.sql<FoldPoint[]>`
    WITH RECURSIVE points AS MATERIALIZED (
      SELECT *, row_number() OVER (ORDER BY t, kind, "sentMs") AS n FROM (
        SELECT kind, epoch_ms(sent_at) AS "sentMs",
          epoch_ms(recorded_at) AS t, lat, lng, mode, false AS rough
        FROM gps_points WHERE ${inSpan(tx, day.userId, day.span)} AND kind IN ('c', 't') AND in_range
          AND NOT ${tx.sql.unsafe(IS_ROUGH)}
        UNION ALL
        SELECT kind, "sentMs", t, lat, lng, mode, false AS rough
        FROM json_to_recordset(${JSON.stringify(added.filter(({ rough }) => !rough))}::text::json)
          AS added (kind text, "sentMs" float8, t float8, lat float8, lng float8, mode text)
      ) either
    ), times AS MATERIALIZED (
      SELECT array_agg(t ORDER BY n) AS t, count(*) AS n FROM points
    ), looked_at (n) AS (
      -- The number of points up to a time, found in the sorted times; the next one is looked at.
      SELECT 1 + width_bucket(${(anchorMs ?? -MIN_ELAPSED_MS) + MIN_ELAPSED_MS - 1}::float8, (SELECT t FROM times))
      UNION ALL
      SELECT 1 + width_bucket((SELECT t FROM times)[n] + ${MIN_ELAPSED_MS - 1}::float8, (SELECT t FROM times))
      FROM looked_at WHERE n <= (SELECT n FROM times)
    )
    SELECT kind, "sentMs", t, lat, lng, mode, rough FROM points
    WHERE n = 1 OR n IN (SELECT n FROM looked_at) ORDER BY points.n`
}

/**
 * The first check-ins of the day, at most `MAX_CHECKINS`, by time.
 * @param pending points of the day that are not stored
 */
export async function readCheckIns(tx: Tx, day: DayAsked, pending: readonly Point[]): Promise<DayCheckIn[]> {
  const stored = await tx.sql<DayCheckIn[]>`
    SELECT epoch_ms(recorded_at) AS t, lat, lng, in_range AS "inRange" FROM gps_points
    WHERE ${inSpan(tx, day.userId, day.span)} AND kind = 'c' ORDER BY recorded_at, sent_at LIMIT ${MAX_CHECKINS}::int`
  const waiting = pending
    .filter(({ kind }) => kind === 'c')
    .map(({ recordedMs: t, lat, lng, inRange }) => ({ t, lat, lng, inRange }))
  return [...stored, ...waiting].sort((a, b) => a.t - b.t).slice(0, MAX_CHECKINS)
}
