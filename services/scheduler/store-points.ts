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
const singlePrecision = (value: number | null): number | null =>
  value !== null && Math.fround(value) === 0 ? 0 : value

/** The order in which every flush inserts points, so that two with the same ones can not deadlock. */
export const byIdentity = (a: OwnedPoint, b: OwnedPoint): number =>
  compare(a.userId, b.userId) || compare(a.point.kind, b.point.kind) || a.point.sentMs - b.point.sentMs

/** The points of one pilgrim and kind among sorted ones, from the first to the last, counted from 1. */
interface Run {
  readonly userId: string
  readonly kind: string
  readonly first: number
  last: number
}

/**
 * Leaves out what is stored already, and of two entries with one identity the later one. The caller holds the locks
 * of the pilgrims, so that nobody else stores points of theirs meanwhile.
 * @param points in the order of `byIdentity`
 */
export async function newPoints(tx: Query, points: readonly OwnedPoint[]): Promise<readonly OwnedPoint[]> {
  if (points.length === 0) return points
  const runs: Run[] = []
  const distinct = points.filter((point, i) => i === 0 || byIdentity(points[i - 1]!, point) !== 0)
  for (const [i, { userId, point }] of distinct.entries()) {
    const run = runs.at(-1)
    if (run?.userId === userId && run.kind === point.kind) run.last = i + 1
    else runs.push({ userId, kind: point.kind, first: i + 1, last: i + 1 })
  }
  const sent = distinct.map(({ point }) => point.sentMs)
  const [earliest, latest] = [Math.min(...sent), Math.max(...sent)]
  const rows = await tx<{ name: string }[]>`
    SELECT r.user_id || ' ' || r.kind || (extract(epoch FROM g.sent_at) * 1000)::bigint AS name
    FROM (SELECT ${sent}::float8[] AS sent) s, unnest(
      ${runs.map(({ userId }) => userId)}::text[], ${runs.map(({ kind }) => kind)}::text[],
      ${runs.map(({ first }) => first)}::int[], ${runs.map(({ last }) => last)}::int[]
    ) AS r (user_id, kind, first, last)
    CROSS JOIN LATERAL (
      SELECT sent_at FROM gps_points p WHERE p.user_id = r.user_id AND p.kind = r.kind
        -- Of all of them: so the plan has only the tables of their days.
        AND p.sent_at >= to_timestamp(${earliest}::float8 / 1000) AND p.sent_at <= to_timestamp(${latest}::float8 / 1000)
        AND p.sent_at = ANY(ARRAY(SELECT to_timestamp(ms / 1000) FROM unnest(sent[first:last]) AS ms))
    ) g`
  if (rows.length === 0) return distinct
  const stored = new Set(rows.map(({ name }) => name))
  return distinct.filter(({ userId, point }) => !stored.has(`${userId} ${fieldOf(point)}`))
}

/** Inserts new points in one statement. */
export async function storePoints(tx: Query, points: readonly OwnedPoint[]): Promise<void> {
  if (points.length === 0) return
  const column = <T>(read: (point: BufferedPoint) => T): T[] => points.map(({ point }) => read(point))
  // in_range travels as a number: postgres.js takes a list of booleans for a single one.
  await tx`
    INSERT INTO gps_points (user_id, kind, sent_at, recorded_at, received_at, lat, lng, accuracy, altitude,
                            speed, mode, source, in_range, clock_corrected)
    SELECT user_id, kind, to_timestamp(sent / 1000), to_timestamp(recorded / 1000), to_timestamp(received / 1000),
           lat, lng, accuracy, altitude, speed, mode, source, in_range = 1, recorded <> sent
    FROM unnest(
      ${points.map(({ userId }) => userId)}::text[], ${column((p) => p.kind)}::text[],
      ${column((p) => p.sentMs)}::float8[], ${column((p) => p.recordedMs)}::float8[],
      ${column((p) => p.receivedMs)}::float8[],
      ${column((p) => p.lat)}::float8[], ${column((p) => p.lng)}::float8[],
      ${column((p) => singlePrecision(p.accuracy))}::float4[], ${column((p) => singlePrecision(p.altitude))}::float4[],
      ${column((p) => singlePrecision(p.speed))}::float4[], ${column((p) => p.mode)}::text[],
      ${column((p) => p.source)}::text[], ${column((p) => (p.inRange ? 1 : 0))}::int[]
    ) AS p (user_id, kind, sent, recorded, received, lat, lng, accuracy, altitude, speed, mode, source, in_range)`
}
