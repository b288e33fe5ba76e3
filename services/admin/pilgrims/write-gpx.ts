/** A pilgrim's points as GPX 1.1. */
import { fieldOf, type Point, unpack } from '#shared/buffer/point.ts'
import { time } from '#shared/contracts/fields.ts'
import type { Database } from '#shared/db/db.ts'
import { readStored } from '#shared/fold/stored-pilgrims.ts'
import { escapeMarkup } from '#shared/http/escape-markup.ts'
import type { Entry } from '#shared/kv/kv.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'

/** Rows that are read at a time, so that a long walk is not loaded into memory. */
const PAGE = 5_000

/** A point with its sort keys. Times are epoch milliseconds. */
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

/** Pending points that are not in the table, in order. Skips entries that can not be parsed. */
async function readPending(db: Database, userId: string, entries: readonly Entry[]): Promise<Placed[]> {
  const pending = entries.flatMap((entry): Point[] => {
    try {
      return [unpack(entry)]
    } catch {
      return []
    }
  })
  const stored = await db.read(() => readStored(db.sql, [{ userId, pending }]))
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

async function* readTable({ sql }: Database, userId: string, kinds: string[]): AsyncGenerator<Placed> {
  const read = ({ t, kind, sent }: Pick<Placed, 't' | 'kind' | 'sent'>) => sql<Placed[]>`
    SELECT kind, (extract(epoch FROM recorded_at) * 1000)::float8 AS t,
           (extract(epoch FROM sent_at) * 1000)::float8 AS sent, lat, lng, altitude::float8 AS altitude
    FROM gps_points WHERE user_id = ${userId} AND kind = ANY(${kinds}::text[])
      AND (recorded_at, kind, sent_at) >
        (to_timestamp(${t}::float8 / 1000), ${kind}, to_timestamp(${sent}::float8 / 1000))
    ORDER BY recorded_at, kind, sent_at LIMIT ${PAGE}::int`
  for (let after = { t: -1, kind: '', sent: -1 }; ;) {
    const page = await read(after)
    yield* page
    if (page.length < PAGE) return
    after = page.at(-1)!
  }
}

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
export async function* gpx(
  { calendar, config, db, now }: ServiceContext,
  userId: string,
  entries: readonly Entry[] | null,
): AsyncGenerator<string> {
  const pending = await readPending(db, userId, entries ?? [])
  yield entries === null ? HEAD + INCOMPLETE : HEAD
  const checkIns = pending.filter(({ kind }) => kind === 'c')
  for await (const point of merged(readTable(db, userId, ['c']), checkIns))
    yield tagged('wpt', point, '<name>check-in</name>')
  // Never the user id: where identity is open it is the key to the pilgrim, and these files are passed on.
  yield `<trk><name>${escapeMarkup(`${config.eventName} ${calendar.day(now())}`)}</name><trkseg>\n`
  for await (const point of merged(readTable(db, userId, ['c', 't']), pending)) yield tagged('trkpt', point)
  yield '</trkseg></trk>\n</gpx>\n'
}
