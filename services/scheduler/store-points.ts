/** The points of a slice into the table; what is there already is left alone and told apart. */
import { fieldOf, type BufferedPoint } from '#shared/buffer/point.ts'
import type { Query } from '#shared/db/db.ts'
import type { Entry } from '#shared/kv/kv.ts'

/** A point, whose it is, and how it stands in the buffer. */
export interface OwnedPoint {
  readonly userId: string
  readonly entry: Entry
  readonly point: BufferedPoint
}

const compare = <T extends string | number>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0)

/** As a float4 column holds it: Postgres refuses a number that is too small for one, instead of taking it for 0. */
const single = (value: number | null): number | null =>
  value !== null && Math.fround(value) === 0 ? 0 : value

/** The order in which every flush inserts points, so that two with the same ones can not deadlock. */
export const byIdentity = (a: OwnedPoint, b: OwnedPoint): number =>
  compare(a.userId, b.userId) || compare(a.point.kind, b.point.kind) || a.point.sentMs - b.point.sentMs

/**
 * Inserts points in one statement.
 * @returns those that were new
 */
export async function storePoints(tx: Query, points: readonly OwnedPoint[]): Promise<readonly OwnedPoint[]> {
  const column = <T>(read: (point: BufferedPoint) => T): T[] => points.map(({ point }) => read(point))
  // in_range travels as a number: postgres.js takes a list of booleans for a single one. What was new is told
  // only where some of it was not, which is seldom: it costs as much as the points' own way here.
  const [row] = await tx<[{ count: number; fresh: string[] | null }]>`
    WITH inserted AS (
      INSERT INTO gps_points (user_id, kind, sent_at, recorded_at, received_at, lat, lng, accuracy, altitude,
                              speed, mode, source, in_range, clock_corrected)
      SELECT user_id, kind, to_timestamp(sent / 1000), to_timestamp(recorded / 1000), to_timestamp(received / 1000),
             lat, lng, accuracy, altitude, speed, mode, source, in_range = 1, recorded <> sent
      FROM unnest(
        ${points.map(({ userId }) => userId)}::text[], ${column((p) => p.kind)}::text[],
        ${column((p) => p.sentMs)}::float8[], ${column((p) => p.recordedMs)}::float8[],
        ${column((p) => p.receivedMs)}::float8[],
        ${column((p) => p.lat)}::float8[], ${column((p) => p.lng)}::float8[],
        ${column((p) => single(p.accuracy))}::float4[], ${column((p) => single(p.altitude))}::float4[],
        ${column((p) => single(p.speed))}::float4[], ${column((p) => p.mode)}::text[],
        ${column((p) => p.source)}::text[], ${column((p) => (p.inRange ? 1 : 0))}::int[]
      ) AS p (user_id, kind, sent, recorded, received, lat, lng, accuracy, altitude, speed, mode, source, in_range)
      ON CONFLICT DO NOTHING
      RETURNING user_id, kind, sent_at
    ), counted AS (SELECT count(*)::int AS count FROM inserted)
    SELECT count, (
      SELECT array_agg(user_id || ' ' || kind || (extract(epoch FROM sent_at) * 1000)::bigint)
      FROM inserted WHERE count < ${points.length}::int
    ) AS fresh
    FROM counted`
  if (row.count === points.length) return points
  const fresh = new Set(row.fresh)
  // Of two entries with one identity the first one is the row.
  return points.filter(({ userId, point }) => fresh.delete(`${userId} ${fieldOf(point)}`))
}
