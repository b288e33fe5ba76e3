/** The one definition of the figure `lost`. */

/**
 * Lost points of one epoch of a partition: points that the kv confirmed, that are not pending any more, and of which no
 * counter records where they went. Journaled points, dead letters and points of erased pilgrims are not lost.
 * @param causes numbers of points; a negative `forgotten` or `unaccounted` counts as 0
 * @param causes.expired points whose retention ended before they were stored. 0 for an ended epoch
 * @param causes.forgotten confirmed points that the kv does not count any more. For an ended epoch: confirmed points
 * that no counter of Postgres contains
 * @param causes.unaccounted points that the kv counts as stored and Postgres does not. 0 for an ended epoch
 */
export const lostPoints = ({
  expired = 0,
  forgotten,
  unaccounted = 0,
}: {
  readonly expired?: number
  readonly forgotten: number
  readonly unaccounted?: number
}): number => expired + Math.max(0, forgotten) + Math.max(0, unaccounted)
