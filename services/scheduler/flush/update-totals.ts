/** Folds the new points of a slice onto the stored days, and updates the totals. */
import { foldPointOf } from '#shared/points/point.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import {
  IS_PLACE,
  POINTS_A_READ,
  readDayInPages,
  readDays,
  readPointsOfDays,
} from '#shared/points/totals/stored-days.ts'
import type { FullDay } from '#shared/points/full-days.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import { isPlace } from '#shared/core/rules/geo.ts'
import {
  addTotals,
  byInstant,
  type DayChange,
  type Fix,
  fixOf,
  type FoldPoint,
  type FoldState,
  refold,
  START,
  zeroTotals,
} from '#shared/core/distance/points-to-distance.ts'
import type { OwnedPoint } from './store-points.ts'
import { EventTotals, hoursOf } from '#shared/points/totals/event-totals.ts'

interface PilgrimChange {
  readonly userId: string
  readonly days: readonly DayChange[]
  /**
   * First and last new place. Of several at the last instant, the one that the fold counts. Null: no new point is a
   * place.
   */
  readonly earliest: FoldPoint | null
  readonly latest: FoldPoint | null
  /** The end of the stored walk before these points. */
  readonly before: FoldState
}

/** A pilgrim's new points in the area, and the day whose stored points their refold needs next. */
interface Plan {
  readonly userId: string
  readonly points: readonly FoldPoint[]
  readonly steps: ReturnType<typeof refold>
  /** Number of stored points of each of their stored days. */
  readonly storedPoints: ReadonlyMap<string, number>
  readonly before: FoldState
  days: DayChange[]
  neededDay: string | null
}

/**
 * Plans the changes of every pilgrim with a new point in the area. The caller holds their rows' locks.
 * @param fresh new points, none of them stored yet
 */
export async function foldPoints(
  tx: Tx,
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
    const before = storedDays.at(-1)?.end ?? START
    const plan: Plan = { userId, points, steps, storedPoints, before, days: [], neededDay: null }
    advance(plan, steps.next())
    return plan
  })
  await readLateDays(tx, plans, calendar)
  return plans.map(({ userId, points, days, before }) => ({
    userId,
    days,
    before,
    ...firstAndLast(points.filter(isPlace)),
  }))
}

/** @param places new ones, in the order of the fold */
function firstAndLast(places: readonly FoldPoint[]): Pick<PilgrimChange, 'earliest' | 'latest'> {
  const last = places.at(-1)
  return { earliest: places[0] ?? null, latest: places.find(({ t }) => t === last?.t) ?? null }
}

function advance(plan: Plan, step: IteratorResult<string, DayChange[]>): void {
  if (step.done) plan.days = step.value
  plan.neededDay = step.done ? null : step.value
}

/** Completes the plans. Each round reads one day of every pilgrim that still needs one, a few pilgrims at a time. */
async function readLateDays(tx: Tx, plans: readonly Plan[], calendar: Calendar): Promise<void> {
  for (;;) {
    const incomplete = plans.filter(({ neededDay }) => neededDay !== null)
    if (incomplete.length === 0) return
    for (const chunk of chunks(incomplete)) {
      const [{ userId, neededDay, storedPoints }] = chunk as [Plan]
      if (storedPoints.get(neededDay!)! > POINTS_A_READ) {
        for await (const page of readDayInPages(tx, userId, neededDay!, calendar))
          advance(chunk[0]!, chunk[0]!.steps.next(page))
        continue
      }
      const requested = chunk.map(({ userId, neededDay }) => ({ userId, day: neededDay! }))
      const found = await readPointsOfDays(tx, requested, calendar)
      for (const plan of chunk)
        advance(plan, plan.steps.next({ points: found.get(plan.userId) ?? [], isLast: true }))
    }
  }
}

/**
 * Splits plans into groups whose needed days have at most {@link POINTS_A_READ} points together; at least one plan per
 * group.
 */
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

const HOUR_MS = 3_600_000

/**
 * @param changes in the order of the pilgrims' ids; this transaction holds the locks of their rows
 * @param moves changes of their latest positions, in the same order
 * @returns the new number of points of each changed day
 */
export async function writeTotals(
  tx: Tx,
  changes: readonly PilgrimChange[],
  moves: readonly Move[],
  calendar: Calendar,
): Promise<readonly DayPoints[]> {
  if (changes.length === 0) return []
  await writePilgrims(tx, changes, moves)
  const news = await writeDays(tx, changes, calendar)
  await writeEvent(tx, changes, news)
  return news
}

async function writePilgrims(
  tx: Tx,
  changes: readonly PilgrimChange[],
  moves: readonly Move[],
): Promise<void> {
  const sums = changes.map(({ days }) => {
    const total = zeroTotals()
    for (const { delta } of days) addTotals(total, delta)
    return total
  })
  const latest = moves.map(({ to }) => to)
  await tx.sql`
    UPDATE pilgrim_totals t SET
      points = t.points + c.points, checkins = t.checkins + c.checkins,
      distance_mm = t.distance_mm + c.mm::bigint, carbon_mg = t.carbon_mg + c.mg::bigint,
      first_seen = least(t.first_seen, from_epoch_ms(c.first_ms)),
      last_seen = from_epoch_ms(c.last_ms), last_lat = c.lat, last_lng = c.lng
    FROM unnest(
      ${changes.map(({ userId }) => userId)}::text[], ${sums.map((s) => s.points)}::int[],
      ${sums.map((s) => s.checkins)}::int[], ${sums.map((s) => s.distanceMm)}::float8[],
      ${sums.map((s) => s.carbonMg)}::float8[], ${changes.map(({ earliest }) => earliest?.t ?? null)}::float8[],
      ${latest.map((to) => to?.t ?? null)}::float8[], ${latest.map((to) => to?.lat ?? null)}::float8[],
      ${latest.map((to) => to?.lng ?? null)}::float8[]
    ) AS c (user_id, points, checkins, mm, mg, first_ms, last_ms, lat, lng)
    WHERE t.user_id = c.user_id`
}

/** A row of a pilgrim's day. `hours`: bit n is set for new points in the n-th hour after its start. */
interface DayRow extends DayChange {
  readonly userId: string
  readonly startMs: number
  readonly hours: number
}

async function writeDays(tx: Tx, changes: readonly PilgrimChange[], calendar: Calendar): Promise<News[]> {
  const rows = changes.flatMap(({ userId, days }) =>
    days.map((change): DayRow => {
      const [startMs] = calendar.span(change.day)
      return { ...change, userId, startMs, hours: hoursOf(change, startMs) }
    }),
  )
  const stored = new Map<string, { readonly hours: number; readonly points: number }>()
  for (const { user_id, day, ...before } of await upsertDays(tx, rows))
    stored.set(`${user_id} ${day}`, before)
  return rows.map(({ userId, day, startMs, hours, delta }) => {
    const before = stored.get(`${userId} ${day}`)
    const news = hours & ~(before?.hours ?? 0)
    const newHours: number[] = []
    for (let bit = 0; news >> bit > 0; bit++)
      if (news & (1 << bit)) newHours.push(calendar.hourStart(startMs + bit * HOUR_MS))
    const points = delta.points + (before?.points ?? 0)
    return { userId, day, points, newDay: before === undefined, newHours }
  })
}

/** Adds to days or inserts them. @returns the previous `hours` and `points` of the days that existed */
function upsertDays(tx: Tx, rows: readonly DayRow[]) {
  const deltas = rows.map(({ delta }) => delta)
  const anchors = rows.map(({ end }) => end.anchor)
  const befores = rows.map(({ end }) => end.before)
  return tx.sql<{ user_id: string; day: string; hours: number; points: number }[]>`
    WITH c AS MATERIALIZED (
      SELECT u.*, u.day_name::date AS day FROM unnest(
        ${rows.map(({ userId }) => userId)}::text[], ${rows.map(({ day }) => day)}::text[],
        ${deltas.map((d) => d.points)}::int[], ${deltas.map((d) => d.checkins)}::int[],
        ${deltas.map((d) => d.distanceMm)}::float8[], ${deltas.map((d) => d.carbonMg)}::float8[],
        ${rows.map(({ hours }) => hours)}::int[],
        ${anchors.map((a) => a?.lat ?? null)}::float8[], ${anchors.map((a) => a?.lng ?? null)}::float8[],
        ${anchors.map((a) => a?.t ?? null)}::float8[],
        ${befores.map((b) => b?.lat ?? null)}::float8[], ${befores.map((b) => b?.lng ?? null)}::float8[],
        ${befores.map((b) => b?.t ?? null)}::float8[]
      ) AS u (user_id, day_name, points, checkins, mm, mg, hours, a_lat, a_lng, a_ms, b_lat, b_lng, b_ms)
    ), upserted AS (
      INSERT INTO pilgrim_days AS d (user_id, day, points, checkins, distance_mm, carbon_mg, hours,
        anchor_lat, anchor_lng, anchor_at, before_lat, before_lng, before_at)
      SELECT user_id, day, points, checkins, mm::bigint, mg::bigint, hours,
        a_lat, a_lng, from_epoch_ms(a_ms), b_lat, b_lng, from_epoch_ms(b_ms)
      FROM c ORDER BY user_id, day
      ON CONFLICT (user_id, day) DO UPDATE SET
        points = d.points + excluded.points, checkins = d.checkins + excluded.checkins,
        distance_mm = d.distance_mm + excluded.distance_mm, carbon_mg = d.carbon_mg + excluded.carbon_mg,
        hours = d.hours | excluded.hours,
        anchor_lat = excluded.anchor_lat, anchor_lng = excluded.anchor_lng, anchor_at = excluded.anchor_at,
        before_lat = excluded.before_lat, before_lng = excluded.before_lng, before_at = excluded.before_at
    )
    -- All parts of a statement see the table as it was before the statement.
    SELECT c.user_id, c.day_name AS day, d.hours, d.points FROM c JOIN pilgrim_days d USING (user_id, day)`
}

export interface DayPoints extends FullDay {
  readonly points: number
}

/** Whether a pilgrim is new on a day, and the starts of the hours in which they are new (epoch milliseconds). */
interface News extends DayPoints {
  readonly newDay: boolean
  readonly newHours: readonly number[]
}

/** Locks the event's rows last and in sorted order, because every flush adds to the current hour. */
async function writeEvent(tx: Tx, changes: readonly PilgrimChange[], news: readonly News[]): Promise<void> {
  const totals = new EventTotals()
  for (const { days } of changes)
    for (const { day, delta } of days) {
      for (const [hour, sums] of delta.hours) totals.addHour(hour, sums, 0)
      for (const [mode, sums] of delta.modes) totals.addMode(day, mode, sums)
    }
  for (const { day, newDay, newHours } of news) {
    if (newDay) totals.addDay(day, 1)
    for (const hour of newHours) totals.addHour(hour, zeroTotals(), 1)
  }
  for (const { rows, statement } of totals.additions('event'))
    await tx.sql.unsafe(statement.join('$1'), [rows], { prepare: true })
}

/** A pilgrim's latest position before and after new points; unchanged if none of them is a later place. */
export interface Move {
  readonly from: Fix | null
  readonly to: Fix | null
}

/**
 * Returns the latest positions, in the order of the changes. Of points at one instant the check-in wins, as in the
 * fold, whichever arrived first.
 * @param previous previous latest positions, where known; the rows are locked
 */
export async function latestPositionChanges(
  tx: Tx,
  changes: readonly PilgrimChange[],
  previous: ReadonlyMap<string, Fix>,
): Promise<Move[]> {
  const ties = changes.flatMap(({ userId, latest }) =>
    latest !== null && previous.get(userId)?.t === latest.t ? [{ userId, t: latest.t }] : [],
  )
  const tied = await placesAt(tx, ties)
  return changes.map(({ userId, latest }) => {
    const from = previous.get(userId) ?? null
    const isLater = latest !== null && (from === null || from.t <= latest.t)
    return { from, to: tied.get(userId) ?? (isLater ? fixOf(latest) : from) }
  })
}

/**
 * The positions of pilgrims whose new points share the instant of the stored latest one: all stored points of that
 * instant decide.
 */
async function placesAt(
  tx: Tx,
  ties: readonly { readonly userId: string; readonly t: number }[],
): Promise<Map<string, Fix>> {
  if (ties.length === 0) return new Map()
  const rows = await tx.sql<(Fix & { user_id: string })[]>`
    SELECT a.user_id, p.lat, p.lng, a.t
    FROM unnest(${ties.map(({ userId }) => userId)}::text[], ${ties.map(({ t }) => t)}::float8[])
      AS a (user_id, t)
    CROSS JOIN LATERAL (
      SELECT lat, lng FROM gps_points g
      WHERE g.user_id = a.user_id AND g.recorded_at = from_epoch_ms(a.t) AND g.in_range AND ${tx.sql.unsafe(IS_PLACE)}
        -- The index is by sent_at, which is between recorded_at and one day after it.
        AND g.kind IN ('c', 't')
        AND g.sent_at BETWEEN from_epoch_ms(a.t) AND from_epoch_ms(a.t) + interval '1 day'
      ORDER BY g.kind, g.sent_at LIMIT 1
    ) p`
  return new Map(rows.map(({ user_id, ...fix }) => [user_id, fix]))
}
