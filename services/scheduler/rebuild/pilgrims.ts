/** Rebuilds every pilgrim's totals and days by folding all their points. */
import { cursorBatches, type Tx } from '#shared/stores/db/db.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import {
  addTotals,
  type DayChange,
  type FoldPoint,
  type Totals,
  WholeFold,
  zeroTotals,
} from '#shared/core/distance/points-to-distance.ts'
import {
  EVENT_TABLES,
  EventTotals,
  hoursOf,
  type Row,
  rowOf,
  SUMS,
  type Table,
} from '#shared/points/totals/event-totals.ts'
import { FOLD_COLUMNS } from '#shared/points/totals/stored-days.ts'
import { isPlace } from '#shared/core/rules/geo.ts'
import { type Differences, selectOf, storedRows } from './differences.ts'

/** Pilgrims whose rows are compared together. */
const BATCH = 500

type StoredPoint = FoldPoint & { readonly userId: string }

/**
 * Reconciles the rows of all pilgrims in batches.
 * @returns their sum
 */
export async function rebuildPilgrims(
  tx: Tx,
  calendar: Calendar,
  differences: Differences,
): Promise<EventTotals> {
  const sums = new EventTotals()
  const batch = new Set<string>()
  let rows: { totals: Row[]; days: Row[] } = { totals: [], days: [] }
  const reconcile = async () => {
    const userIds = [...batch]
    await differences.reconcile(tx, TOTALS, rows.totals, await storedRows(tx, TOTALS, userIds))
    await differences.reconcile(tx, DAYS, rows.days, await storedRows(tx, DAYS, userIds))
    batch.clear()
    rows = { totals: [], days: [] }
  }
  for await (const { userId, walk, earliest, latest } of walks(tx, calendar)) {
    const days = walk.days()
    sums.addPilgrim(days)
    batch.add(userId)
    rows.totals.push(totalsOf(userId, days, earliest, latest))
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

interface Walk {
  readonly userId: string
  readonly walk: WholeFold
  /** First and last place; of several at the last instant, the one that the fold counts. */
  earliest: FoldPoint | null
  latest: FoldPoint | null
}

/** Folds all points in the area, one pilgrim at a time. */
async function* walks(tx: Tx, calendar: Calendar): AsyncGenerator<Walk> {
  let current = null as Walk | null
  const select = `
    SELECT user_id AS "userId", ${FOLD_COLUMNS} FROM gps_points WHERE in_range
    ORDER BY user_id, recorded_at, kind, sent_at`
  for await (const page of cursorBatches<StoredPoint>(tx, 'points', select))
    for (const [userId, points] of Map.groupBy(page, (point) => point.userId)) {
      if (current?.userId !== userId) {
        if (current !== null) yield current
        current = { userId, walk: new WholeFold(calendar), earliest: null, latest: null }
      }
      current.walk.add(points)
      for (const place of points.filter(isPlace)) {
        current.earliest ??= place
        if (place.t !== current.latest?.t) current.latest = place
      }
    }
  if (current !== null) yield current
}

function totalsOf(
  userId: string,
  days: readonly DayChange[],
  earliest: FoldPoint | null,
  latest: FoldPoint | null,
): Row {
  const sums = zeroTotals()
  for (const { delta } of days) addTotals(sums, delta)
  return {
    user_id: userId,
    ...rowOf(sums),
    first_seen: earliest?.t ?? null,
    last_seen: latest?.t ?? null,
    last_lat: latest?.lat ?? null,
    last_lng: latest?.lng ?? null,
  }
}

function dayOf(userId: string, change: DayChange, calendar: Calendar): Row {
  const { day, delta, end } = change
  const { anchor, before } = end
  return {
    user_id: userId,
    day,
    ...rowOf(delta),
    hours: hoursOf(change, calendar.span(day)[0]),
    anchor_lat: anchor?.lat ?? null,
    anchor_lng: anchor?.lng ?? null,
    anchor_at: anchor?.t ?? null,
    before_lat: before?.lat ?? null,
    before_lng: before?.lng ?? null,
    before_at: before?.t ?? null,
  }
}

const TOTALS: Table = {
  name: 'pilgrim_totals',
  key: ['user_id'],
  columns: {
    user_id: 'text',
    ...SUMS,
    first_seen: 'instant',
    last_seen: 'instant',
    last_lat: 'number',
    last_lng: 'number',
  },
}

const DAYS: Table = {
  name: 'pilgrim_days',
  key: ['user_id', 'day'],
  columns: {
    user_id: 'text',
    day: 'day',
    ...SUMS,
    hours: 'whole',
    anchor_lat: 'number',
    anchor_lng: 'number',
    anchor_at: 'instant',
    before_lat: 'number',
    before_lng: 'number',
    before_at: 'instant',
  },
}

/** Adds the stored totals of erased people, and reconciles those of the event. */
export async function reconcileEvent(tx: Tx, sums: EventTotals, differences: Differences): Promise<void> {
  const rowsOf = (table: Table) => tx.sql.unsafe<Row[]>(selectOf(table))
  const [hours = [], modes = [], days = []] = await Promise.all(
    EVENT_TABLES.map((table) => rowsOf({ ...table, name: table.name.replace('event', 'erased') })),
  )
  for (const row of hours) sums.addHour(row.hour as number, sumsOf(row), row.pilgrims as number)
  for (const { day, pilgrims } of days) sums.addDay(day as string, pilgrims as number)
  for (const row of modes) sums.addMode(row.day as string, row.mode as string, sumsOf(row))
  for (const [i, rows] of sums.rows().entries())
    await differences.reconcile(tx, EVENT_TABLES[i]!, rows, await rowsOf(EVENT_TABLES[i]!))
}

const sumsOf = (row: Row): Totals => ({
  points: (row.points ?? 0) as number,
  checkins: (row.checkins ?? 0) as number,
  distanceMm: row.distance_mm as number,
  carbonMg: row.carbon_mg as number,
})
