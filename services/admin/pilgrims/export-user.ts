/** The export of one pilgrim's data: everything as JSON, or their points as GPX. */
import { peekWithTimeout } from '#shared/buffer/read-pending-points.ts'
import { type BufferedPoint, fieldOf, unpack } from '#shared/buffer/point.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { time } from '#shared/contracts/fields.ts'
import { unavailable } from '#shared/http/errors.ts'
import type { Entry } from '#shared/kv/kv.ts'
import { type PersonalTable, PERSONAL_TABLES } from '#shared/schema/personal-data.ts'
import type { Operator } from '#shared/security/admin-auth.ts'
import { streamingBody } from '../reports/streaming-body.ts'
import { auditLook, type Look, unknownPilgrim } from './audit-look.ts'
import { gpx } from './write-gpx.ts'

/** Rows that are read at a time: a long walk is not loaded into memory, and no page holds the thread for long. */
const PAGE = 1_000

/**
 * What identifies a row among those of one pilgrim, with its type in the database: pages go on after the last one, so
 * that rows that come or go meanwhile move no other. Tables that are not here have one row.
 */
const KEYS: Partial<Record<PersonalTable, Readonly<Record<string, string>>>> = {
  gps_points: { kind: 'text', sent_at: 'timestamptz' },
  pilgrim_days: { day: 'date' },
  survey_history: { id: 'bigint' },
  consents: { id: 'bigint' },
  refused_line_events: { digest: 'text' },
  feedback: { id: 'bigint' },
  shares: { id: 'text' },
  trackers: { id: 'uuid' },
  push_subscriptions: { id: 'uuid' },
  push_deliveries: { id: 'bigint' },
  dead_letters: { id: 'bigint' },
}

const IS_TIME = /_(at|seen)$/

type Row = Readonly<Record<string, unknown>>

/** The row with its times in the API's format. The database's format has fewer digits, and an offset. */
const withApiTimes = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      IS_TIME.test(name) && typeof value === 'string' ? time(Date.parse(value)) : value,
    ]),
  )

async function* rowsOf({ db }: ServiceContext, table: PersonalTable, userId: string): AsyncGenerator<Row> {
  const key = Object.entries(KEYS[table] ?? {})
  const names = key.map(([name]) => `t.${name}`).join()
  const last = key.map(([, type], i) => `$${i + 2}::text::${type}`).join()
  for (let after: string[] | null = null; ;) {
    const order = key.length === 0 ? '' : `ORDER BY ${names}`
    // Table and key come from constants, never from a client. The page is selected first: where the planner sorts, it
    // would otherwise make the JSON of all remaining rows for each page.
    const rows: { row: string }[] = await db.sql.unsafe<{ row: string }[]>(
      `SELECT (to_jsonb(t) - 'searchable' - 'key_hash' - 'p256dh' - 'auth')::text AS row FROM (
         SELECT * FROM ${table} t
         WHERE user_id = $1 ${after === null ? '' : `AND (${names}) > (${last})`} ${order} LIMIT ${PAGE}
       ) t ${order}`,
      [userId, ...(after ?? [])],
    )
    const read = rows.map(({ row }) => JSON.parse(row) as Row)
    for (const row of read) yield withApiTimes(row)
    const end = read.at(-1)
    if (end === undefined || read.length < PAGE || key.length === 0) return
    after = key.map(([name]) => String(end[name]))
  }
}

/** A pending point with the column names of stored points. */
const publicPoint = (userId: string, point: BufferedPoint): Row => {
  const { kind, lat, lng, accuracy, altitude, speed, mode, source, inRange } = point
  return {
    user_id: userId,
    kind,
    sent_at: time(point.sentMs),
    recorded_at: time(point.recordedMs),
    received_at: time(point.receivedMs),
    lat,
    lng,
    accuracy,
    altitude,
    speed,
    mode,
    source,
    in_range: inRange,
    clock_corrected: point.recordedMs !== point.sentMs,
  }
}

/** Pending entries by identity. An entry that can not be parsed is exported as its raw text. */
const pendingOf = (userId: string, entries: readonly Entry[]): Map<string, Row> =>
  new Map(
    entries.map((entry) => {
      try {
        return [entry.field, publicPoint(userId, unpack(entry))]
      } catch {
        return [entry.field, { user_id: userId, unreadable: `${entry.field} ${entry.value}` }]
      }
    }),
  )

/** The identity of a stored row, in the buffer's format. */
const identityOf = ({ kind, sent_at: sentAt }: Row): string =>
  fieldOf({ kind: kind as BufferedPoint['kind'], sentMs: Date.parse(String(sentAt)) })

/** @param entries pending entries, read before any stored row; null: the buffer is unavailable */
async function* json(
  context: ServiceContext,
  userId: string,
  entries: readonly Entry[] | null,
): AsyncGenerator<string> {
  const pending = entries && pendingOf(userId, entries)
  yield `{"userId":${JSON.stringify(userId)},"exported_at":"${time(context.now())}"`
  for (const table of PERSONAL_TABLES) {
    yield `,"${table}":[`
    let separator = ''
    for await (const row of rowsOf(context, table, userId)) {
      if (table === 'gps_points') pending?.delete(identityOf(row))
      yield separator + JSON.stringify(row)
      separator = ','
    }
    yield ']'
  }
  yield `,"pending":${JSON.stringify(pending && [...pending.values()])}}`
}

/**
 * Exports one pilgrim's data as a download, pending points included. While the buffer is unavailable, the export says
 * that they are missing. An operator's look is audited; when that fails, the call fails.
 * @param operator null when the pilgrim exports their own data
 * @throws Refusal 404 for an unknown pilgrim, 503 when that can not be determined; an error of the database
 */
export async function exportUser(
  context: ServiceContext,
  { operator, userId, requestId }: Omit<Look, 'operator'> & { readonly operator: Operator | null },
  format: 'json' | 'gpx',
): Promise<Response> {
  const { db, kv } = context
  const entries = (await peekWithTimeout(kv, [userId]))?.[0] ?? null
  const [stored] = await db.read(() => db.sql`SELECT 1 FROM pilgrims WHERE user_id = ${userId}`)
  if (stored === undefined && entries === null)
    throw unavailable('Nothing is stored about this pilgrim yet. Please try again in a moment.')
  if (stored === undefined && entries!.length === 0) throw unknownPilgrim(userId)
  if (operator !== null)
    await auditLook(
      context,
      { operator, userId, requestId },
      { action: 'export-user', format },
      stored !== undefined,
    )
  const [type, body] =
    format === 'gpx'
      ? ['application/gpx+xml', gpx(context, userId, entries)]
      : ['application/json', json(context, userId, entries)]
  return new Response(await streamingBody(context, body), {
    headers: { 'Content-Type': type, 'Content-Disposition': `attachment; filename="pilgrim.${format}"` },
  })
}
