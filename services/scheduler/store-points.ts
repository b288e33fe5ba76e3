/** The points of a slice into the table; what is there already is left alone and told apart. */
import type { Point } from '#shared/buffer/point.ts'
import { fieldOf } from '#shared/buffer/point.ts'
import type { Query } from '#shared/db/db.ts'

/** A point and whose it is. */
export interface OwnedPoint extends Point {
  readonly userId: string
}

const identityOf = (userId: string, field: string): string => `${userId} ${field}`

/**
 * Inserts points in one statement.
 * @returns those that were new
 */
export async function storePoints(tx: Query, points: readonly OwnedPoint[]): Promise<OwnedPoint[]> {
  if (points.length === 0) return []
  const column = <T>(read: (point: OwnedPoint) => T): T[] => points.map(read)
  const stored = await tx<{ user_id: string; kind: 'c' | 't'; sent_ms: number }[]>`
    INSERT INTO gps_points (user_id, kind, sent_at, recorded_at, received_at, lat, lng, accuracy, altitude,
                            speed, mode, source, in_range, clock_corrected)
    SELECT user_id, kind, to_timestamp(sent / 1000), to_timestamp(recorded / 1000), to_timestamp(received / 1000),
           lat, lng, accuracy, altitude, speed, mode, source, in_range = 1, recorded <> sent
    FROM unnest(
      ${column((p) => p.userId)}::text[], ${column((p) => p.kind)}::text[],
      ${column((p) => p.sentMs)}::float8[], ${column((p) => p.recordedMs)}::float8[],
      ${column((p) => p.receivedMs)}::float8[],
      ${column((p) => p.lat)}::float8[], ${column((p) => p.lng)}::float8[],
      ${column((p) => p.accuracy)}::float4[], ${column((p) => p.altitude)}::float4[],
      ${column((p) => p.speed)}::float4[], ${column((p) => p.mode)}::text[],
      ${column((p) => p.source)}::text[], ${column((p) => (p.inRange ? 1 : 0))}::int[]
    ) AS p (user_id, kind, sent, recorded, received, lat, lng, accuracy, altitude, speed, mode, source, in_range)
    ON CONFLICT DO NOTHING
    RETURNING user_id, kind, (extract(epoch FROM sent_at) * 1000)::float8 AS sent_ms`
  const fresh = new Set(
    stored.map((row) => identityOf(row.user_id, fieldOf({ kind: row.kind, sentMs: row.sent_ms }))),
  )
  return points.filter((point) => fresh.has(identityOf(point.userId, fieldOf(point))))
}
