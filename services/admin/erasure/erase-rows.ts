/** The database's part of an erasure: the person's own rows, and their id in others' rows. */
import { and, eq, sql } from 'drizzle-orm'
import type { ErasurePart } from '#shared/contracts/erasure.ts'
import type { Answers } from '#shared/contracts/survey.ts'
import { userHash } from '#shared/stores/kv/kv.ts'
import { isLineUserId } from '#shared/service/line/line-client.ts'
import { screenshotKey } from '#shared/stores/objects/pictures.ts'
import {
  erasing,
  PERSONAL_TABLES,
  type PersonalTable,
  pilgrims,
  REPORTS,
  surveys,
  trackers,
} from '#shared/stores/schema/tables.ts'
import { countPoints } from '#shared/points/ledger/counters.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { isOfLaterRelease } from '#shared/stores/db/migrate.ts'
import { lockPerson, lockRecipients } from '#shared/pilgrims/person-lock.ts'
import { addErasedReportTotals } from '#shared/pilgrims/report-totals.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { countSurvey } from '#shared/pilgrims/survey-counts.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import { CellChanges } from '#shared/core/map/cell-counts.ts'
import { cellAt, cellCentre, FINEST_PER_DEGREE, MAX_ZOOM } from '#shared/core/map/cells.ts'
import { type FoldPoint, WholeFold } from '#shared/core/distance/points-to-distance.ts'
import { EventTotals } from '#shared/points/totals/event-totals.ts'
import { FOLD_COLUMNS, POINTS_A_READ } from '#shared/points/totals/stored-days.ts'
import { isPlace } from '#shared/core/rules/geo.ts'

export type Erasing = typeof erasing.$inferSelect

/** Parts that remain after the rows have been deleted. */
export const OUTSIDE: readonly ErasurePart[] = ['buffer', 'objects']

export interface ErasedRows {
  readonly rows: Record<PersonalTable, number>
  /** Number of rows of others that contained the person's id. */
  readonly mentions: number
  readonly walked: boolean
  readonly screenshots: string[]
  readonly trackers: string[]
}

/** Locks out every writer of the person's data: other erasures, the planning of messages, the flush. */
export async function lockOutWriters(tx: Tx, userId: string): Promise<void> {
  await lockPerson(tx, userId)
  await lockRecipients(tx)
  await tx.orm.execute(sql`INSERT INTO pilgrim_totals (user_id) VALUES (${userId}) ON CONFLICT DO NOTHING`)
  await tx.orm.execute(sql`SELECT FROM pilgrim_totals WHERE user_id = ${userId} FOR UPDATE`)
}

/** Deletes a person's rows and stores their sums anonymously. The transaction must hold `lockOutWriters`. */
export async function eraseRows(
  tx: Tx,
  userId: string,
  { calendar, config }: Pick<ServiceContext, 'calendar' | 'config'>,
): Promise<ErasedRows> {
  const walked =
    (await storeAnonymousTotals(tx, userId, calendar, config.mapCrowd)) || (await hasReported(tx, userId))
  const screenshots = await ownScreenshots(tx, userId)
  const keys = await readTrackerKeys(tx, userId)
  await blankAlerts(tx, userId)
  const rows = await emptyTables(tx, userId)
  return { rows, walked, screenshots, trackers: keys, mentions: await forgetMentions(tx, userId) }
}

export async function countErased(tx: Tx, { rows }: ErasedRows): Promise<void> {
  await countPoints(tx, 'points-erased', rows.gps_points)
  await countPoints(tx, 'letters-erased', rows.dead_letters)
}

export function addCounts(
  to: Readonly<Record<string, number>>,
  more: Readonly<Record<string, number>>,
): Record<string, number> {
  const sums = { ...to }
  for (const [name, count] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + count
  return sums
}

export async function readTrackerKeys(tx: Tx, userId: string): Promise<string[]> {
  const rows = await tx.orm
    .select({ hash: trackers.keyHash })
    .from(trackers)
    .where(eq(trackers.userId, userId))
  return rows.map(({ hash }) => hash)
}

async function hasReported(tx: Tx, userId: string): Promise<boolean> {
  const withReports = tx.orm.select({ id: pilgrims.userId }).from(pilgrims)
  return (await withReports.where(and(eq(pilgrims.userId, userId), sql.raw(REPORTS)))).length > 0
}

/**
 * Keys of the person's screenshots. A screenshot belongs to the first feedback that refers to it, because only its
 * uploader knew the name then. Later references do not own it.
 */
async function ownScreenshots(tx: Tx, userId: string): Promise<string[]> {
  const rows = await tx.orm.execute<{ url: string }>(sql`
    SELECT f.screenshot_url AS url FROM feedback f
    WHERE f.user_id = ${userId} AND f.screenshot_url IS NOT NULL AND NOT EXISTS (
      SELECT FROM feedback o WHERE right(o.screenshot_url, 36) = right(f.screenshot_url, 36)
        AND o.id < f.id AND o.user_id IS DISTINCT FROM f.user_id)`)
  const keys = rows.map(({ url }) => screenshotKey(url.slice(url.lastIndexOf('/') + 1)))
  return [...new Set(keys.filter((key) => key !== null))]
}

/**
 * Blanks the alerts of the person's emergencies, which contain name, place and number. Pending ones are not sent, because
 * the emergency is confirmed or deleted in the same transaction (`isExpired`).
 */
export async function blankAlerts(tx: Tx, userId: string): Promise<void> {
  const alerts = sql`SELECT m.id FROM messages m JOIN emergencies e ON m.cause = 'emergency' AND split_part(m.cause_key, ':', 2) = e.id::text
    WHERE e.user_id = ${userId}`
  await tx.orm.execute(sql`UPDATE message_chunks SET body = '[]' WHERE message_id IN (${alerts})`)
  await tx.orm.execute(sql`UPDATE messages SET notices = NULL WHERE id IN (${alerts})`)
}

async function emptyTables(tx: Tx, userId: string): Promise<Record<PersonalTable, number>> {
  const rows = {} as Record<PersonalTable, number>
  for (const table of PERSONAL_TABLES) {
    if (table === 'pilgrims' || table === 'surveys') {
      rows[table] = await deleteCounted[table](tx, userId)
      continue
    }
    // Rows that serve only as a lock are not counted.
    const own = table === 'pilgrim_totals' ? sql`WHERE points > 0` : sql``
    const [counted] = await tx.orm.execute<{ n: number }>(sql`
      WITH gone AS (DELETE FROM ${sql.identifier(table)} WHERE user_id = ${userId} RETURNING *)
      SELECT count(*)::int AS n FROM gone ${own}`)
    rows[table] = counted!.n
  }
  for (const table of await laterTables(tx))
    await tx.orm.execute(sql`DELETE FROM ${sql.identifier(table)} WHERE user_id = ${userId}`)
  return rows
}

/** Tables with personal data that were added by a later release, since rolled back to this one. */
async function laterTables(tx: Tx): Promise<string[]> {
  // Otherwise a table of this name belongs to another program.
  if (!(await isOfLaterRelease(tx))) return []
  const tables = await tx.sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
      AND attname = 'user_id' AND NOT attisdropped AND atttypid = 'text'::regtype`
  const known: readonly string[] = PERSONAL_TABLES
  return tables.map(({ name }) => name).filter((name) => !known.includes(name))
}

/** Deletes from tables that have totals. Reported amounts stay in the totals anonymously; surveys are subtracted. */
const deleteCounted = {
  async pilgrims(tx: Tx, userId: string): Promise<number> {
    const deleted = await tx.orm.delete(pilgrims).where(eq(pilgrims.userId, userId)).returning()
    for (const pilgrim of deleted) await addErasedReportTotals(tx, pilgrim)
    return deleted.length
  },
  async surveys(tx: Tx, userId: string): Promise<number> {
    const deleted = await tx.orm.delete(surveys).where(eq(surveys.userId, userId)).returning()
    // Not parsed, because answers that the contract no longer accepts are erased as well.
    for (const { answers } of deleted) await countSurvey(tx, answers as Answers, null)
    return deleted.length
  },
}

/**
 * Removes the person's id from others' rows: the audit log and the messages stay, without the person.
 * @returns number of rows that contained it
 */
async function forgetMentions(tx: Tx, userId: string): Promise<number> {
  const hash = userHash(userId)
  const changes = [
    sql`UPDATE audit_log SET details = jsonb_set(details, '{user_id}', to_jsonb(${hash}::text))
      WHERE details->>'user_id' = ${userId}`,
    sql`UPDATE message_chunks SET recipients = recipients - ${userId}::text WHERE recipients ? ${userId}::text`,
    sql`UPDATE messages SET audience = jsonb_set(audience, '{user_ids}', (audience->'user_ids') - ${userId}::text)
      WHERE audience->'user_ids' ? ${userId}::text`,
    // Their messages to the bot.
    sql`DELETE FROM outbox WHERE payload->'source'->>'userId' = ${userId}`,
  ]
  // Others may have mentioned them in a group. A LINE id has no other meaning in an event.
  if (isLineUserId(userId))
    changes.push(sql`
      UPDATE outbox SET payload = replace(payload::text, to_jsonb(${userId}::text)::text, to_jsonb(${hash}::text)::text)::jsonb
      WHERE position(to_jsonb(${userId}::text)::text IN payload::text) > 0`)
  let rows = 0
  for (const change of changes) {
    const [counted] = await tx.orm.execute<{ n: number }>(sql`
      WITH changed AS (${change} RETURNING 1) SELECT count(*)::int AS n FROM changed`)
    rows += counted!.n
  }
  return rows
}

/** Zoom of the cells that stay, about 90 m. */
const KEPT_ZOOM = 14
/** Maximum number of other pilgrims read per day, as a multiple of the crowd. */
const OTHERS = 10

/**
 * Reads all of the pilgrim's points in the area, folds them again, and adds the result to the anonymous totals. Removes
 * their latest position from the map.
 * @param crowd pilgrims who must share a cell of the map on a day; points of cells with fewer are dropped
 * @returns whether there were any points
 */
export async function storeAnonymousTotals(
  tx: Tx,
  userId: string,
  calendar: Calendar,
  crowd: number,
): Promise<boolean> {
  const walk = new WholeFold(calendar)
  const shared = new Map<string, Set<string> | null>()
  let walked = false
  for await (const points of pagesOfPoints(tx, userId)) {
    walked = true
    walk.add(points)
    for (const day of new Set(points.map(({ t }) => calendar.day(t))))
      if (!shared.has(day))
        shared.set(day, crowd === 1 ? null : await sharedCells(tx, userId, day, calendar, crowd))
    await coarsenCells(tx, points, calendar, shared)
  }
  await leaveMap(tx, userId, calendar)
  const totals = new EventTotals()
  totals.addPilgrim(walk.days())
  for (const { rows, statement } of totals.additions('erased'))
    await tx.orm.execute(sql`${sql.raw(statement[0])}${rows}${sql.raw(statement[1])}`)
  return walked
}

/** All points of a pilgrim in the area, in the order of the fold. */
async function* pagesOfPoints(tx: Tx, userId: string): AsyncGenerator<FoldPoint[]> {
  await tx.orm.execute(sql`
    DECLARE walk NO SCROLL CURSOR FOR SELECT ${sql.raw(FOLD_COLUMNS)} FROM gps_points
    WHERE user_id = ${userId} AND in_range ORDER BY recorded_at, kind, sent_at`)
  for (;;) {
    const page = await tx.orm.execute(sql`FETCH ${sql.raw(`${POINTS_A_READ}`)} FROM walk`)
    if (page.length === 0) break
    yield page as unknown as FoldPoint[]
  }
  await tx.orm.execute(sql`CLOSE walk`)
}

/**
 * Moves points on the operators' map to the middle of their zoom-14 cell and to the start of their day. Points of a
 * cell shared by fewer than the crowd on that day are dropped, because they would be a person's trail.
 * @param shared the cells of each day that enough others share; null: all
 */
async function coarsenCells(
  tx: Tx,
  points: readonly FoldPoint[],
  calendar: Calendar,
  shared: ReadonlyMap<string, ReadonlySet<string> | null>,
): Promise<void> {
  const changes = new CellChanges()
  const kept = new Map<string, { hour: number; x: number; y: number; points: number }>()
  for (const { t, lat, lng } of points.filter(isPlace)) {
    changes.removePoint(calendar.hourStart(t), { lat, lng })
    const day = calendar.day(t)
    const [hour] = calendar.span(day)
    const cell = cellAt(lat, lng, KEPT_ZOOM)
    if (shared.get(day)?.has(`${cell.y} ${cell.x}`) === false) continue
    const middle = cellCentre(cell)
    changes.addPoint(hour, middle)
    const { x, y } = cellAt(middle.lat, middle.lng, MAX_ZOOM)
    kept.getOrInsertComputed(`${hour} ${y} ${x}`, () => ({ hour, x, y, points: 0 })).points++
  }
  await storeChanges(tx, changes)
  await tx.orm.execute(sql`
    INSERT INTO erased_cells AS c (hour, x, y, points)
    SELECT from_epoch_ms(hour), x, y, points
    FROM jsonb_to_recordset(${JSON.stringify([...kept.values()])}::jsonb)
      AS e (hour float8, x int, y int, points int)
    ORDER BY hour, y, x
    ON CONFLICT (hour, y, x) DO UPDATE SET points = c.points + excluded.points`)
}

/**
 * Cells of a day in which enough of a limited number of other pilgrims have a point. Reading everyone's points would
 * take minutes.
 */
async function sharedCells(
  tx: Tx,
  userId: string,
  day: string,
  calendar: Calendar,
  crowd: number,
): Promise<Set<string>> {
  const [from, to] = calendar.span(day).map((ms) => new Date(ms).toISOString())
  const perDegree = sql.raw(`${FINEST_PER_DEGREE / 2 ** (MAX_ZOOM - KEPT_ZOOM)}`)
  const rows = await tx.orm.execute<{ cell: string }>(sql`
    SELECT y || ' ' || x AS cell FROM (
      SELECT DISTINCT user_id, floor((lat + 90) * ${perDegree})::int AS y, floor((lng + 180) * ${perDegree})::int AS x
      FROM gps_points WHERE in_range AND sent_at >= ${from}::timestamptz AND sent_at < ${to}::timestamptz
        AND user_id IN (
          SELECT user_id FROM pilgrim_days WHERE user_id <> ${userId} AND day = ${day} LIMIT ${OTHERS * crowd})
    ) others GROUP BY y, x HAVING count(*) >= ${crowd - 1}`)
  return new Set(rows.map(({ cell }) => cell))
}

/** Makes the next flush remove the pilgrim from their latest cell. */
async function leaveMap(tx: Tx, userId: string, calendar: Calendar): Promise<void> {
  const [last] = await tx.orm.execute<{ t: number | null; lat: number; lng: number }>(sql`
    SELECT epoch_ms(last_seen) AS t, last_lat AS lat, last_lng AS lng
    FROM pilgrim_totals WHERE user_id = ${userId}`)
  if (last === undefined || last.t === null) return
  const changes = new CellChanges()
  changes.removePilgrim(calendar.hourStart(last.t), last)
  await storeChanges(tx, changes)
}

async function storeChanges(tx: Tx, changes: CellChanges): Promise<void> {
  const packed = changes.pack()
  if (packed !== '')
    await tx.orm.execute(sql`INSERT INTO cell_changes (changes) VALUES (decode(${packed}, 'base64'))`)
}
