/** Reads a pilgrim's points of the last hours, pending ones included, and their latest place. */
import { unpack } from '#shared/points/point.ts'
import { peekPilgrim } from '#shared/points/pending-points.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Entry } from '#shared/stores/kv/kv.ts'

/** A place at a time, epoch milliseconds. */
export interface Fix {
  readonly t: number
  readonly lat: number
  readonly lng: number
}

interface Way {
  /** Ordered by time. A single one may be older than the line's period. */
  readonly points: readonly Fix[]
  /** The buffer was unavailable: the latest points are missing. */
  readonly incomplete: boolean
}

/**
 * Of each slot the first point is enough for the line. A phone that records each second sends more, and the time to
 * draw a line can grow with the square of its points.
 */
const SLOT_MS = 15_000
const slotOf = ({ t }: Fix): number => Math.floor(t / SLOT_MS)

/**
 * @param sinceMs beginning of the line, epoch milliseconds
 * @param fromMs nothing from before it is read, the last place included
 */
export async function readWay(
  { db, kv }: Pick<ServiceContext, 'db' | 'kv'>,
  userId: string,
  sinceMs: number,
  fromMs: number,
): Promise<Way> {
  // Before the stored points, so that points which a flush stores in between are not missing.
  const entries = await peekPilgrim(kv, userId)
  const stored = await db.read(
    () => db.sql<Fix[]>`
      SELECT fix[1] AS t, fix[2] AS lat, fix[3] AS lng
      FROM (
        SELECT min(ARRAY[p.t, p.lat, p.lng]) AS fix
        FROM (
          SELECT extract(epoch FROM recorded_at)::float8 * 1000 AS t, lat, lng FROM gps_points
          WHERE user_id = ${userId} AND in_range AND recorded_at >= to_timestamp(${sinceMs / 1_000}::float8)
        ) p
        GROUP BY floor(p.t / ${SLOT_MS}::int)
      ) slots
      UNION ALL
      SELECT extract(epoch FROM last_seen)::float8 * 1000, last_lat, last_lng
      FROM pilgrim_totals WHERE user_id = ${userId} AND last_lat IS NOT NULL
        AND last_seen >= to_timestamp(${fromMs / 1_000}::float8)`,
  )
  const all = [...stored, ...pendingFixes(entries ?? []).filter(({ t }) => t >= fromMs)].sort(
    (a, b) => a.t - b.t,
  )
  const last = all.at(-1)
  const recent = all.filter(({ t }) => t >= sinceMs)
  const line = recent.filter(
    (fix, i) => i === 0 || i === recent.length - 1 || slotOf(fix) !== slotOf(recent[i - 1]!),
  )
  return {
    points: line.length === 0 && last !== undefined ? [last] : line,
    incomplete: entries === null,
  }
}

/** Points that cannot be read are left out: the flush makes dead letters of them. */
const pendingFixes = (entries: readonly Entry[]): Fix[] =>
  entries.flatMap((entry) => {
    try {
      const { inRange, recordedMs: t, lat, lng } = unpack(entry)
      return inRange ? [{ t, lat, lng }] : []
    } catch {
      return []
    }
  })
