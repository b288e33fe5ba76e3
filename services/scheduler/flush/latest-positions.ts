/** Where pilgrims are: what becomes of their latest positions when new points come. */
import type { Query } from '#shared/db/db.ts'
import type { Fix, FoldPoint } from '#shared/fold/fold.ts'
import type { PilgrimChange } from './fold-points.ts'

/** A pilgrim's latest position before and after some points; the same one where all of them are older. */
export interface Move {
  readonly from: Fix | null
  readonly to: Fix
}

/**
 * The latest positions, in the order of the changes. At one instant the check-in is the place, not a track point:
 * the one that the fold takes, whichever came first.
 * @param were latest positions before, of those who had any; their rows are locked
 */
export async function latestPositionChanges(
  tx: Query,
  changes: readonly PilgrimChange[],
  were: ReadonlyMap<string, Fix>,
): Promise<Move[]> {
  const ties = changes.filter(({ userId, latest }) => were.get(userId)?.t === latest.t)
  const tied = await placesAt(tx, ties)
  return changes.map(({ userId, latest }) => {
    const from = were.get(userId) ?? null
    const to = tied.get(userId) ?? (from !== null && from.t > latest.t ? from : fixOf(latest))
    return { from, to }
  })
}

const fixOf = ({ lat, lng, t }: FoldPoint): Fix => ({ lat, lng, t })

/** Where pilgrims are whose new points share the instant of their latest one: all stored points of it decide. */
async function placesAt(tx: Query, ties: readonly PilgrimChange[]): Promise<Map<string, Fix>> {
  if (ties.length === 0) return new Map()
  const rows = await tx<(Fix & { user_id: string })[]>`
    SELECT a.user_id, p.lat, p.lng, a.t
    FROM unnest(${ties.map(({ userId }) => userId)}::text[], ${ties.map(({ latest }) => latest.t)}::float8[])
      AS a (user_id, t)
    CROSS JOIN LATERAL (
      SELECT lat, lng FROM gps_points g
      WHERE g.user_id = a.user_id AND g.recorded_at = to_timestamp(a.t / 1000) AND g.in_range
        -- The key leads here by the time sent, which lies between the place in time and a day after it.
        AND g.kind IN ('c', 't')
        AND g.sent_at BETWEEN to_timestamp(a.t / 1000) AND to_timestamp(a.t / 1000) + interval '1 day'
      ORDER BY g.kind, g.sent_at LIMIT 1
    ) p`
  return new Map(rows.map(({ user_id, ...fix }) => [user_id, fix]))
}
