/** The export of one pilgrim's data: everything as JSON, or their points as GPX. */
import { peekPilgrim } from '#shared/points/pending-points.ts'
import { type BufferedPoint, fieldOf, POINT_COLUMNS, readablePoints, unpack } from '#shared/points/point.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { Entry } from '#shared/stores/kv/kv.ts'
import { type PersonalTable, PERSONAL_TABLES } from '#shared/stores/schema/tables.ts'
import type { Acting } from '#shared/service/security/audit-log.ts'
import { rowsByPage, streamingBody } from '../reports/streaming-body.ts'
import { expectKnown } from '#shared/pilgrims/profile.ts'
import { auditLook } from './audit-look.ts'
import type { Database } from '#shared/stores/db/db.ts'
import { readStored } from '#shared/points/totals/pilgrim-statistics.ts'
import { escapeMarkup } from '#shared/service/http/escape-markup.ts'

/** Rows read at a time: a long walk is not loaded into memory, and no page blocks the thread for long. */
const PAGE = 1_000

/**
 * The columns that identify a row among those of one pilgrim, with their types: pages continue after the last row, so
 * that rows added or removed meanwhile do not shift others. Tables not listed have one row.
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

const IS_TIME = /(?:^|_)(?:at|seen|since|until)$/

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
  const after = key.map(([, type], i) => `$${i + 2}::text::${type}`).join()
  const order = key.length === 0 ? '' : `ORDER BY ${names}`
  const rows = rowsByPage<Row>(PAGE, async (last) => {
    // Table and key come from constants, never from a client. The page is selected first: if the planner sorts, it
    // would otherwise build the JSON of all remaining rows for each page.
    const page = await db.sql.unsafe<{ row: string }[]>(
      `SELECT (to_jsonb(t) - 'searchable' - 'key_hash' - 'p256dh' - 'auth')::text AS row FROM (
         SELECT * FROM ${table} t
         WHERE user_id = $1 ${last === undefined ? '' : `AND (${names}) > (${after})`} ${order} LIMIT ${PAGE}
       ) t ${order}`,
      [userId, ...(last === undefined ? [] : key.map(([name]) => String(last[name])))],
    )
    return page.map(({ row }) => JSON.parse(row) as Row)
  })
  for await (const row of rows) yield withApiTimes(row)
}

const publicPoint = (userId: string, point: BufferedPoint): Row =>
  Object.fromEntries(
    POINT_COLUMNS.map(({ name, type, of }) => {
      const value = of({ userId, point })
      return [name, type === 'instant' ? time(Number(value)) : value]
    }),
  )

/** Pending entries by identity. An entry that cannot be parsed is exported as its raw text. */
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
 * that they are missing. An operator's export is audited; when that fails, the call fails.
 * @param operator null when the pilgrim exports their own data
 * @throws Refusal 404 for an unknown pilgrim, 503 when that cannot be determined; an error of the database
 */
export async function exportUser(
  context: ServiceContext,
  operator: Acting | null,
  userId: string,
  format: 'json' | 'gpx',
): Promise<Response> {
  const { db, kv } = context
  const entries = await peekPilgrim(kv, userId)
  const [stored] = await db.read(() => db.sql`SELECT 1 FROM pilgrims WHERE user_id = ${userId}`)
  expectKnown(userId, stored !== undefined, entries && entries.length)
  if (operator !== null)
    await auditLook(context, operator, userId, { action: 'export-user', format }, stored !== undefined)
  const [type, body] =
    format === 'gpx'
      ? ['application/gpx+xml', gpx(context, userId, entries)]
      : ['application/json', json(context, userId, entries)]
  return new Response(await streamingBody(context, body), {
    headers: { 'Content-Type': type, 'Content-Disposition': `attachment; filename="pilgrim.${format}"` },
  })
}

const GPX_PAGE = 5_000

interface Placed {
  readonly t: number
  readonly kind: string
  readonly sent: number
  readonly lat: number
  readonly lng: number
  readonly altitude: number | null
}

const tagged = (tag: string, { t, lat, lng, altitude }: Placed, name = ''): string =>
  `<${tag} lat="${lat}" lon="${lng}">${altitude === null ? '' : `<ele>${altitude}</ele>`}<time>${time(t)}</time>${name}</${tag}>\n`

/** Orders by time, and points of the same instant by identity. */
const inOrder = (a: Placed, b: Placed): number =>
  a.t - b.t || (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : 0) || a.sent - b.sent

/** Pending points that are not in the table, in order. Skips entries that cannot be parsed. */
async function readPending(db: Database, userId: string, entries: readonly Entry[]): Promise<Placed[]> {
  const pending = readablePoints(entries)
  const stored = await db.read(() => readStored(db, [{ userId, pending }]))
  const { known } = stored.get(userId)!
  return pending
    .filter((point) => !known.has(fieldOf(point)))
    .map(({ recordedMs: t, kind, sentMs: sent, lat, lng, altitude }) => ({
      t,
      kind,
      sent,
      lat,
      lng,
      altitude,
    }))
    .sort(inOrder)
}

const readTable = ({ sql }: Database, userId: string, kinds: string[]): AsyncGenerator<Placed> =>
  rowsByPage(
    GPX_PAGE,
    (last?: Pick<Placed, 't' | 'kind' | 'sent'>) => sql<Placed[]>`
    SELECT kind, epoch_ms(recorded_at) AS t,
           epoch_ms(sent_at) AS sent, lat, lng, altitude::float8 AS altitude
    FROM gps_points WHERE user_id = ${userId} AND kind = ANY(${kinds}::text[])
      AND (recorded_at, kind, sent_at) >
        (from_epoch_ms(${last?.t ?? -1}), ${last?.kind ?? ''}, from_epoch_ms(${last?.sent ?? -1}))
    ORDER BY recorded_at, kind, sent_at LIMIT ${GPX_PAGE}::int`,
  )

/** Merges both in order. A point that a flush has stored since the buffer was read is in both, and is yielded once. */
async function* merged(table: AsyncGenerator<Placed>, pending: readonly Placed[]): AsyncGenerator<Placed> {
  let next = 0
  for await (const point of table) {
    while (next < pending.length && inOrder(pending[next]!, point) < 0) yield pending[next++]!
    if (next < pending.length && inOrder(pending[next]!, point) === 0) next++
    yield point
  }
  yield* pending.slice(next)
}

const HEAD = `<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="pilgrimage-event-tracking" xmlns="http://www.topografix.com/GPX/1/1">\n`
const INCOMPLETE = `<metadata><desc>Incomplete: pending points are missing, because the buffer was unavailable.</desc></metadata>\n`

/**
 * Writes check-ins as waypoints, then all points as one track, in order of time. The track has the name of the event
 * and the day of the export.
 * @param entries entries of the buffer, read before this; null: it was unavailable, and the file says so
 */
async function* gpx(
  { calendar, event, db, now }: ServiceContext,
  userId: string,
  entries: readonly Entry[] | null,
): AsyncGenerator<string> {
  const pending = await readPending(db, userId, entries ?? [])
  yield entries === null ? HEAD + INCOMPLETE : HEAD
  const checkIns = pending.filter(({ kind }) => kind === 'c')
  for await (const point of merged(readTable(db, userId, ['c']), checkIns))
    yield tagged('wpt', point, '<name>check-in</name>')
  // Never the user id: while identity is open it gives access to the pilgrim's data, and these files are passed on.
  yield `<trk><name>${escapeMarkup(`${event.current.name} ${calendar.day(now())}`)}</name><trkseg>\n`
  for await (const point of merged(readTable(db, userId, ['c', 't']), pending)) yield tagged('trkpt', point)
  yield '</trkseg></trk>\n</gpx>\n'
}
