/** The points of a slice into the table; what is there already is left alone and told apart. */
import { type BufferedPoint, meetsByAccident, type Standing } from '#shared/buffer/point.ts'
import type { Database, Query } from '#shared/db/db.ts'
import type { Column } from '#shared/db/insert-rows.ts'
import type { Entry } from '#shared/kv/kv.ts'

/** A point, whose it is, and how it stands in the buffer. */
export interface OwnedPoint {
  readonly userId: string
  readonly entry: Entry
  readonly point: BufferedPoint
}

const compare = <T extends string | number>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0)

/** The order in which every flush inserts points, so that two with the same ones can not deadlock. */
export const byIdentity = (a: OwnedPoint, b: OwnedPoint): number =>
  compare(a.userId, b.userId) || compare(a.point.kind, b.point.kind) || a.point.sentMs - b.point.sentMs

/** Stored points between two new ones that are no further apart are read, too: a phone records one in ten seconds. */
const GAP_MS = 3_600_000

/** Points of one pilgrim and kind, from the first to the last of them (epoch milliseconds). */
interface Run {
  readonly userId: string
  readonly kind: string
  readonly firstMs: number
  lastMs: number
}

/** Sorted points as runs without a long gap. */
function runsOf(points: readonly OwnedPoint[]): Run[] {
  const runs: Run[] = []
  let run: Run | undefined
  for (const { userId, point } of points) {
    const { kind, sentMs } = point
    if (run?.userId === userId && run.kind === kind && sentMs - run.lastMs <= GAP_MS) run.lastMs = sentMs
    else runs.push((run = { userId, kind, firstMs: sentMs, lastMs: sentMs }))
  }
  return runs
}

/**
 * Leaves out what is stored already, and of two entries with one identity the later one. The caller holds the locks
 * of the pilgrims, so that nobody else stores points of theirs meanwhile.
 * @param points in the order of `byIdentity`
 */
export async function newPoints(tx: Query, points: readonly OwnedPoint[]): Promise<readonly OwnedPoint[]> {
  if (points.length === 0) return points
  const distinct = points.filter((point, i) => i === 0 || byIdentity(points[i - 1]!, point) !== 0)
  const runs = runsOf(distinct)
  const [firsts, lasts] = [runs.map(({ firstMs }) => firstMs), runs.map(({ lastMs }) => lastMs)]
  const rows = await tx<{ run: number; ms: number }[]>`
    SELECT r.run::int AS run, (extract(epoch FROM g.sent_at) * 1000)::float8 AS ms
    FROM unnest(
      ${runs.map(({ userId }) => userId)}::text[], ${runs.map(({ kind }) => kind)}::text[],
      ${firsts}::float8[], ${lasts}::float8[]
    ) WITH ORDINALITY AS r (user_id, kind, first_ms, last_ms, run)
    CROSS JOIN LATERAL (
      SELECT sent_at FROM gps_points p WHERE p.user_id = r.user_id AND p.kind = r.kind
        AND p.sent_at >= to_timestamp(r.first_ms / 1000) AND p.sent_at <= to_timestamp(r.last_ms / 1000)
        -- Of all of them: so the plan has only the tables of their days.
        AND p.sent_at >= to_timestamp(${Math.min(...firsts)}::float8 / 1000)
        AND p.sent_at <= to_timestamp(${Math.max(...lasts)}::float8 / 1000)
      OFFSET 0 -- By the key, run by run: of a day that has just begun the planner knows nothing, and would read it whole.
    ) g`
  if (rows.length === 0) return distinct
  const stored = new Set<string>()
  for (const { run, ms } of rows) {
    const { userId, kind } = runs[run - 1]!
    stored.add(`${userId} ${kind}${ms}`)
  }
  const isStored = ({ userId, entry }: OwnedPoint): boolean => stored.has(`${userId} ${entry.field}`)
  const fresh = distinct.filter((point) => !isStored(point))
  const moved = await ownInstants(tx, distinct.filter(isStored), fresh)
  return moved.length === 0 ? fresh : [...fresh, ...moved].sort(byIdentity)
}

/** Check-ins that came within one millisecond are few: a limit sees to that. */
const NEARBY_MS = 100

/**
 * Of check-ins whose instant is stored already, those that met another one there by accident, each moved to the next
 * instant that is free: the store of the buffer does the same while both are in it. Whoever is at the same place was
 * stored before.
 */
async function ownInstants(
  tx: Query,
  stored: readonly OwnedPoint[],
  fresh: readonly OwnedPoint[],
): Promise<OwnedPoint[]> {
  const checkins = stored.filter(({ point }) => point.kind === 'c')
  if (checkins.length === 0) return []
  const times = checkins.map(({ point }) => point.sentMs)
  const rows = await tx<(Standing & { userId: string })[]>`
    SELECT DISTINCT g.user_id AS "userId", g.lat, g.lng, (extract(epoch FROM g.sent_at) * 1000)::float8 AS "sentMs",
      (extract(epoch FROM g.recorded_at) * 1000)::float8 AS "recordedMs",
      (extract(epoch FROM g.received_at) * 1000)::float8 AS "receivedMs"
    FROM unnest(${checkins.map(({ userId }) => userId)}::text[], ${times}::float8[]) AS c (user_id, ms)
    JOIN gps_points g ON g.user_id = c.user_id AND g.kind = 'c' AND g.sent_at >= to_timestamp(c.ms / 1000)
      AND g.sent_at <= to_timestamp((c.ms + ${NEARBY_MS}::float8) / 1000)
    -- Of all of them: so the plan has only the tables of their days.
    WHERE g.sent_at >= to_timestamp(${Math.min(...times)}::float8 / 1000)
      AND g.sent_at <= to_timestamp((${Math.max(...times)}::float8 + ${NEARBY_MS}::float8) / 1000)`
  const taken = new Map<string, Standing>(rows.map((row) => [`${row.userId} ${row.sentMs}`, row]))
  for (const { userId, point } of fresh) if (point.kind === 'c') taken.set(`${userId} ${point.sentMs}`, point)
  return checkins.flatMap((checkin) => {
    const { userId, point } = checkin
    for (let later = 0; later < NEARBY_MS; later++) {
      const moved = { ...point, sentMs: point.sentMs + later, recordedMs: point.recordedMs + later }
      const instant = `${userId} ${moved.sentMs}`
      const there = taken.get(instant)
      if (there === undefined) {
        taken.set(instant, moved)
        return [{ ...checkin, point: moved }]
      }
      if (!meetsByAccident(point, there)) return []
    }
    return []
  })
}

const COLUMNS: readonly Column<OwnedPoint>[] = [
  { name: 'user_id', type: 'text', of: ({ userId }) => userId },
  { name: 'kind', type: 'text', of: ({ point }) => point.kind },
  { name: 'sent_at', type: 'instant', of: ({ point }) => point.sentMs },
  { name: 'recorded_at', type: 'instant', of: ({ point }) => point.recordedMs },
  { name: 'received_at', type: 'instant', of: ({ point }) => point.receivedMs },
  { name: 'lat', type: 'float8', of: ({ point }) => point.lat },
  { name: 'lng', type: 'float8', of: ({ point }) => point.lng },
  { name: 'accuracy', type: 'float4', of: ({ point }) => point.accuracy },
  { name: 'altitude', type: 'float4', of: ({ point }) => point.altitude },
  { name: 'speed', type: 'float4', of: ({ point }) => point.speed },
  { name: 'mode', type: 'text', of: ({ point }) => point.mode },
  { name: 'source', type: 'text', of: ({ point }) => point.source },
  { name: 'in_range', type: 'boolean', of: ({ point }) => point.inRange },
  { name: 'clock_corrected', type: 'boolean', of: ({ point }) => point.recordedMs !== point.sentMs },
]

/** Inserts new points in one statement. */
export async function storePoints(
  { insertRows }: Pick<Database, 'insertRows'>,
  tx: Query,
  points: readonly OwnedPoint[],
): Promise<void> {
  if (points.length > 0) await insertRows(tx, 'gps_points', COLUMNS, points)
}
