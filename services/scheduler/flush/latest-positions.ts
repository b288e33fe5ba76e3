/** Computes how new points change the latest positions of pilgrims. */
import type { Query } from '#shared/stores/db/db.ts'
import type { Fix, FoldPoint } from '#shared/core/fold/fold.ts'
import type { PilgrimChange } from './fold-points.ts'

/** A pilgrim's latest position before and after new points; unchanged where all of them are older. */
export interface Move {
  readonly from: Fix | null
  readonly to: Fix
}

/**
 * Returns the latest positions, in the order of the changes. Of points at one instant the check-in decides, as in
 * the fold, whichever arrived first.
 * @param previous previous latest positions, where known; the rows are locked
 */
export async function latestPositionChanges(
  tx: Query,
  changes: readonly PilgrimChange[],
  previous: ReadonlyMap<string, Fix>,
): Promise<Move[]> {
  const ties = changes.filter(({ userId, latest }) => previous.get(userId)?.t === latest.t)
  const tied = await placesAt(tx, ties)
  return changes.map(({ userId, latest }) => {
    const from = previous.get(userId) ?? null
    const to = tied.get(userId) ?? (from !== null && from.t > latest.t ? from : fixOf(latest))
    return { from, to }
  })
}

const fixOf = ({ lat, lng, t }: FoldPoint): Fix => ({ lat, lng, t })

/**
 * The positions of pilgrims whose new points share the instant of the stored latest one: all stored points of it
 * decide.
 */
async function placesAt(tx: Query, ties: readonly PilgrimChange[]): Promise<Map<string, Fix>> {
  if (ties.length === 0) return new Map()
  const rows = await tx<(Fix & { user_id: string })[]>`
    SELECT a.user_id, p.lat, p.lng, a.t
    FROM unnest(${ties.map(({ userId }) => userId)}::text[], ${ties.map(({ latest }) => latest.t)}::float8[])
      AS a (user_id, t)
    CROSS JOIN LATERAL (
      SELECT lat, lng FROM gps_points g
      WHERE g.user_id = a.user_id AND g.recorded_at = to_timestamp(a.t / 1000) AND g.in_range
        -- The index is by sent_at, which is between recorded_at and one day after it.
        AND g.kind IN ('c', 't')
        AND g.sent_at BETWEEN to_timestamp(a.t / 1000) AND to_timestamp(a.t / 1000) + interval '1 day'
      ORDER BY g.kind, g.sent_at LIMIT 1
    ) p`
  return new Map(rows.map(({ user_id, ...fix }) => [user_id, fix]))
}
