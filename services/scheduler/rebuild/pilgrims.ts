/** Rebuilds every pilgrim's totals and days by folding all their points. */
import { type Query, cursorBatches } from '#shared/stores/db/db.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import {
  addTotals,
  byInstant,
  type DayChange,
  type FoldPoint,
  refold,
  zeroTotals,
} from '#shared/core/distance/points-to-distance.ts'
import { type Differences, readable, type Row, type Table } from './differences.ts'
import { EventTotals, rowOf } from './event-totals.ts'
import { DAYS, TOTALS } from './tables.ts'
import { LoggableError } from '#shared/runtime/log.ts'

const HOUR_MS = 3_600_000
/** Pilgrims whose rows are compared together. */
const BATCH = 500

type StoredPoint = FoldPoint & { readonly userId: string }

/**
 * Reconciles the rows of all pilgrims in batches.
 * @returns their sum
 */
export async function rebuildPilgrims(
  tx: Query,
  calendar: Calendar,
  differences: Differences,
): Promise<EventTotals> {
  const sums = new EventTotals()
  const batch = new Set<string>()
  let rows: { totals: Row[]; days: Row[] } = { totals: [], days: [] }
  const reconcile = async () => {
    const userIds = [...batch]
    await differences.reconcile(tx, TOTALS, rows.totals, await storedOf(tx, TOTALS, userIds))
    await differences.reconcile(tx, DAYS, rows.days, await storedOf(tx, DAYS, userIds))
    batch.clear()
    rows = { totals: [], days: [] }
  }
  for await (const { userId, points } of pilgrims(tx)) {
    const days = foldAll(points, calendar)
    sums.add(days)
    batch.add(userId)
    rows.totals.push(totalsOf(userId, points, days))
    rows.days.push(...days.map((day) => dayOf(userId, day, calendar)))
    if (batch.size >= BATCH) await reconcile()
  }
  for await (const page of cursorBatches<{ user_id: string }>(tx, 'pointless', POINTLESS))
    for (const { user_id } of page) batch.add(user_id)
  await reconcile()
  return sums
}

/** People with stored totals but without a point in the area. */
const POINTLESS = `
  SELECT user_id FROM (SELECT user_id FROM pilgrim_totals UNION SELECT user_id FROM pilgrim_days) kept
  WHERE NOT EXISTS (SELECT FROM gps_points p WHERE p.user_id = kept.user_id AND p.in_range) ORDER BY 1`

/** Yields all points in the area, a pilgrim at a time, in the fold's order. */
async function* pilgrims(tx: Query): AsyncGenerator<{ userId: string; points: StoredPoint[] }> {
  let points: StoredPoint[] = []
  const select = `
    SELECT user_id AS "userId", kind, (extract(epoch FROM sent_at) * 1000)::float8 AS "sentMs",
           (extract(epoch FROM recorded_at) * 1000)::float8 AS t, lat, lng, mode,
           coalesce(accuracy > 100, false) AS rough
    FROM gps_points WHERE in_range ORDER BY user_id`
  for await (const page of cursorBatches<StoredPoint>(tx, 'points', select))
    for (const point of page) {
      const userId = points[0]?.userId
      if (userId !== undefined && userId !== point.userId) {
        yield { userId, points: points.sort(byInstant) }
        points = []
      }
      points.push(point)
    }
  if (points.length > 0) yield { userId: points[0]!.userId, points: points.sort(byInstant) }
}

function foldAll(points: readonly FoldPoint[], calendar: Calendar): DayChange[] {
  // A fold from the beginning has no stored days, so it requests none.
  const { value: days } = refold([], points, calendar).next()
  if (!Array.isArray(days)) throw new LoggableError('a fold from the beginning requested stored points')
  return days
}

function totalsOf(userId: string, points: readonly FoldPoint[], days: readonly DayChange[]): Row {
  const sums = zeroTotals()
  for (const { delta } of days) addTotals(sums, delta)
  const lastMs = points.at(-1)!.t
  const { lat, lng } = points.find(({ t }) => t === lastMs)!
  return {
    user_id: userId,
    ...rowOf(sums),
    first_seen: points[0]!.t,
    last_seen: lastMs,
    last_lat: lat,
    last_lng: lng,
  }
}

function dayOf(userId: string, { day, delta, end }: DayChange, calendar: Calendar): Row {
  const [startMs] = calendar.span(day)
  let hours = 0
  for (const [hour, { points }] of delta.hours)
    if (points > 0) hours |= 1 << Math.round((hour - startMs) / HOUR_MS)
  const { anchor, before } = end
  return {
    user_id: userId,
    day,
    ...rowOf(delta),
    hours,
    anchor_lat: anchor?.lat ?? null,
    anchor_lng: anchor?.lng ?? null,
    anchor_at: anchor?.t ?? null,
    before_lat: before?.lat ?? null,
    before_lng: before?.lng ?? null,
    before_at: before?.t ?? null,
  }
}

const storedOf = async (tx: Query, table: Table, userIds: string[]): Promise<Row[]> => [
  ...(await tx.unsafe<Row[]>(
    `SELECT ${readable(table)} FROM ${table.name}
     WHERE user_id IN (SELECT jsonb_array_elements_text($1::text::jsonb))
     ORDER BY ${table.key.join(', ')}`,
    [JSON.stringify(userIds)],
  )),
]
