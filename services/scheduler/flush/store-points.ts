/** Stores the points of a slice. Points that are already stored are recognised and left unchanged. */
import { type BufferedPoint, POINT_COLUMNS } from '#shared/points/point.ts'
import { type CheckInPosition, sharesInstantByAccident, type Entry } from '#shared/stores/kv/kv.ts'
import type { Database, Tx } from '#shared/stores/db/db.ts'

export interface OwnedPoint {
  readonly userId: string
  readonly entry: Entry
  readonly point: BufferedPoint
}

const compare = <T extends string | number>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0)

/** The insert order of every flush, so that two flushes with the same points cannot deadlock. */
export const byIdentity = (a: OwnedPoint, b: OwnedPoint): number =>
  compare(a.userId, b.userId) || compare(a.point.kind, b.point.kind) || a.point.sentMs - b.point.sentMs

/**
 * New points at most this far apart share a range, and stored points between them are read, too. A phone records one
 * point in ten seconds.
 */
const GAP_MS = 3_600_000

/** One pilgrim's points of one kind, in a time range (epoch milliseconds). */
interface Run {
  readonly userId: string
  readonly kind: string
  readonly firstMs: number
  lastMs: number
  readonly points: OwnedPoint[]
}

function runsOf(points: readonly OwnedPoint[]): Run[] {
  const runs: Run[] = []
  let run: Run | undefined
  for (const owned of points) {
    const { userId, point } = owned
    const { kind, sentMs } = point
    if (run?.userId !== userId || run.kind !== kind || sentMs - run.lastMs > GAP_MS)
      runs.push((run = { userId, kind, firstMs: sentMs, lastMs: sentMs, points: [] }))
    run.lastMs = sentMs
    run.points.push(owned)
  }
  return runs
}

/**
 * Removes points that are already stored, and the later of two entries with one identity. The caller holds the
 * pilgrims' locks, so no other transaction stores their points meanwhile.
 * @param points in the order of `byIdentity`
 */
export async function withoutStoredPoints(
  tx: Tx,
  points: readonly OwnedPoint[],
): Promise<readonly OwnedPoint[]> {
  if (points.length === 0) return points
  const distinct = points.filter((point, i) => i === 0 || byIdentity(points[i - 1]!, point) !== 0)
  const runs = runsOf(distinct)
  const [firsts, lasts] = [runs.map(({ firstMs }) => firstMs), runs.map(({ lastMs }) => lastMs)]
  const rows = await tx.sql<{ run: number; ms: number }[]>`
    SELECT r.run::int AS run, epoch_ms(g.sent_at) AS ms
    FROM unnest(
      ${runs.map(({ userId }) => userId)}::text[], ${runs.map(({ kind }) => kind)}::text[],
      ${firsts}::float8[], ${lasts}::float8[]
    ) WITH ORDINALITY AS r (user_id, kind, first_ms, last_ms, run)
    CROSS JOIN LATERAL (
      SELECT sent_at FROM gps_points p WHERE p.user_id = r.user_id AND p.kind = r.kind
        AND p.sent_at >= from_epoch_ms(r.first_ms) AND p.sent_at <= from_epoch_ms(r.last_ms)
        -- Bounds over all rows let the planner prune the partitions of other days.
        AND p.sent_at >= from_epoch_ms(${Math.min(...firsts)})
        AND p.sent_at <= from_epoch_ms(${Math.max(...lasts)})
      OFFSET 0 -- Forces one index scan per run. A new day has no statistics, and the planner would scan it whole.
    ) g`
  if (rows.length === 0) return distinct
  // Matched by run number: keys of user, kind and time cost several times as much.
  const times = Map.groupBy(rows, ({ run }) => run)
  const fresh: OwnedPoint[] = []
  const stored: OwnedPoint[] = []
  for (const [i, run] of runs.entries()) {
    const storedTimes = new Set(times.get(i + 1)?.map(({ ms }) => ms))
    for (const owned of run.points) (storedTimes.has(owned.point.sentMs) ? stored : fresh).push(owned)
  }
  const moved = await ownInstants(tx, stored, fresh)
  return moved.length === 0 ? fresh : [...fresh, ...moved].sort(byIdentity)
}

/** The rate limit bounds how many check-ins can share one millisecond. */
const NEARBY_MS = 100

/**
 * Finds check-ins whose instant is occupied by a different check-in, and moves each to the next free instant. The
 * buffer does the same while both are pending. A check-in at the same place is a duplicate.
 */
async function ownInstants(
  tx: Tx,
  stored: readonly OwnedPoint[],
  fresh: readonly OwnedPoint[],
): Promise<OwnedPoint[]> {
  const checkins = stored.filter(({ point }) => point.kind === 'c')
  if (checkins.length === 0) return []
  const times = checkins.map(({ point }) => point.sentMs)
  const rows = await tx.sql<(CheckInPosition & { userId: string })[]>`
    SELECT DISTINCT g.user_id AS "userId", g.lat, g.lng, epoch_ms(g.sent_at) AS "sentMs",
      epoch_ms(g.recorded_at) AS "recordedMs",
      epoch_ms(g.received_at) AS "receivedMs"
    FROM unnest(${checkins.map(({ userId }) => userId)}::text[], ${times}::float8[]) AS c (user_id, ms)
    JOIN gps_points g ON g.user_id = c.user_id AND g.kind = 'c' AND g.sent_at >= from_epoch_ms(c.ms)
      AND g.sent_at <= from_epoch_ms(c.ms + ${NEARBY_MS}::float8)
    -- Bounds over all rows let the planner prune the partitions of other days.
    WHERE g.sent_at >= from_epoch_ms(${Math.min(...times)})
      AND g.sent_at <= from_epoch_ms(${Math.max(...times) + NEARBY_MS})`
  const occupied = new Map<string, CheckInPosition>(rows.map((row) => [`${row.userId} ${row.sentMs}`, row]))
  for (const { userId, point } of fresh)
    if (point.kind === 'c') occupied.set(`${userId} ${point.sentMs}`, point)
  return checkins.flatMap((checkin) => {
    const { userId, point } = checkin
    for (let later = 0; later < NEARBY_MS; later++) {
      const moved = { ...point, sentMs: point.sentMs + later, recordedMs: point.recordedMs + later }
      const instant = `${userId} ${moved.sentMs}`
      const occupant = occupied.get(instant)
      if (occupant === undefined) {
        occupied.set(instant, moved)
        return [{ ...checkin, point: moved }]
      }
      if (!sharesInstantByAccident(point, occupant)) return []
    }
    return []
  })
}

export async function storePoints(
  { insertRows }: Pick<Database, 'insertRows'>,
  tx: Tx,
  points: readonly OwnedPoint[],
): Promise<void> {
  if (points.length > 0) await insertRows(tx, 'gps_points', POINT_COLUMNS, points)
}
