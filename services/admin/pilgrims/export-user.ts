/** Everything that is stored about one pilgrim, for the pilgrim: as JSON, or their points as GPX. */
import { escapeMarkup } from '#shared/http/escape-markup.ts'
import { unpack } from '#shared/buffer/point.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { time } from '#shared/contracts/fields.ts'
import { notFound } from '#shared/http/errors.ts'
import { type PersonalTable, PERSONAL_TABLES } from '#shared/schema/personal-data.ts'
import { streamed } from '../reports/streaming-body.ts'

/** Rows that are read at once, so that a long walk is not held in memory. */
const PAGE = 5_000

/** Tables whose order a reader would miss. Everything else a pilgrim has one row in, or few. */
const ORDER: Partial<Record<PersonalTable, string>> = { gps_points: 'kind, sent_at', pilgrim_days: 'day' }

const IS_TIME = /_(at|seen)$/

/** The row as JSON, its times as all times of the interface are shown. The database's own have fewer digits, and an offset. */
const withPlainTimes = (row: string): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(JSON.parse(row) as Record<string, unknown>).map(([name, value]) => [
        name,
        IS_TIME.test(name) && typeof value === 'string' ? time(Date.parse(value)) : value,
      ]),
    ),
  )

async function* rowsOf({ db }: ServiceContext, table: PersonalTable, userId: string): AsyncGenerator<string> {
  const order = ORDER[table] ?? '1'
  for (let offset = 0; ; offset += PAGE) {
    // Table and order come from the lists above, never from a client.
    const rows = await db.sql.unsafe<{ row: string }[]>(
      `SELECT (to_jsonb(t) - 'searchable')::text AS row FROM ${table} t WHERE user_id = $1 ORDER BY ${order} LIMIT ${PAGE} OFFSET ${offset}`,
      [userId],
    )
    for (const { row } of rows) yield withPlainTimes(row)
    if (rows.length < PAGE) return
  }
}

async function* json(context: ServiceContext, userId: string): AsyncGenerator<string> {
  yield `{"userId":${JSON.stringify(userId)},"exported_at":"${time(context.now())}"`
  for (const table of PERSONAL_TABLES) {
    yield `,"${table}":[`
    let separator = ''
    for await (const row of rowsOf(context, table, userId)) {
      yield separator + row
      separator = ','
    }
    yield ']'
  }
  const pending = (await context.kv.peek(userId)).map(unpack)
  yield `,"pending":${JSON.stringify(pending)}}`
}

interface GpxPoint {
  readonly t: number
  readonly lat: number
  readonly lng: number
  readonly altitude: number | null
}

/** Where a point stands in the order of an export. Times are epoch milliseconds. */
interface Place {
  readonly t: number
  readonly kind: string
  readonly sent: number
}

const gpxPoint = (tag: string, { t, lat, lng, altitude }: GpxPoint, name = ''): string =>
  `<${tag} lat="${lat}" lon="${lng}">${altitude === null ? '' : `<ele>${altitude}</ele>`}<time>${time(t)}</time>${name}</${tag}>\n`

/** GPX 1.1: check-ins as waypoints, then all points as one track, by their place in time. */
async function* gpx({ db }: ServiceContext, userId: string): AsyncGenerator<string> {
  // Several points may share an instant: their identity tells them apart where a page ends between them.
  const read = (kinds: string[], { t, kind, sent }: Place) => db.sql<(GpxPoint & Place)[]>`
    SELECT kind, (extract(epoch FROM recorded_at) * 1000)::float8 AS t,
           (extract(epoch FROM sent_at) * 1000)::float8 AS sent, lat, lng, altitude::float8 AS altitude
    FROM gps_points WHERE user_id = ${userId} AND kind = ANY(${kinds}::text[])
      AND (recorded_at, kind, sent_at) >
        (to_timestamp(${t}::float8 / 1000), ${kind}, to_timestamp(${sent}::float8 / 1000))
    ORDER BY recorded_at, kind, sent_at LIMIT ${PAGE}::int`
  const pages = async function* (kinds: string[]) {
    for (let after: Place = { t: -1, kind: '', sent: -1 }; ;) {
      const page = await read(kinds, after)
      yield* page
      if (page.length < PAGE) return
      after = page.at(-1)!
    }
  }
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="pilgrimage-event-tracking" xmlns="http://www.topografix.com/GPX/1/1">\n`
  for await (const point of pages(['c'])) yield gpxPoint('wpt', point, '<name>check-in</name>')
  yield `<trk><name>${escapeMarkup(userId)}</name><trkseg>\n`
  for await (const point of pages(['c', 't'])) yield gpxPoint('trkpt', point)
  yield '</trkseg></trk>\n</gpx>\n'
}

/**
 * Exports one pilgrim's data as a download.
 * @throws Refusal 404 for someone who is not known
 */
export async function exportUser(
  context: ServiceContext,
  userId: string,
  format: 'json' | 'gpx',
): Promise<Response> {
  const { db, kv } = context
  const [known] = await db.read(() => db.sql`SELECT 1 FROM pilgrims WHERE user_id = ${userId}`)
  if (known === undefined && (await kv.peek(userId)).length === 0)
    throw notFound(`Nothing is known of a pilgrim with the id ${userId}.`)
  const [type, body] =
    format === 'gpx'
      ? ['application/gpx+xml', gpx(context, userId)]
      : ['application/json', json(context, userId)]
  return new Response(streamed(body), {
    headers: { 'Content-Type': type, 'Content-Disposition': `attachment; filename="pilgrim.${format}"` },
  })
}
