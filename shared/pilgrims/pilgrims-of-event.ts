/** How many pilgrims the event's totals are of: the same number wherever totals are shown. */
import { REPORTS } from '#shared/stores/schema/profiles.ts'

/** SQL of a number: those with a counted point or a report of their own above zero, and erased ones who walked. */
export const PILGRIMS_OF_EVENT = `(
  (SELECT count(*) FROM pilgrim_totals WHERE points > 0)
  + (SELECT count(*) FROM pilgrims p WHERE ${REPORTS} AND NOT EXISTS (
      SELECT FROM pilgrim_totals t WHERE t.user_id = p.user_id AND t.points > 0))
  + (SELECT coalesce(sum(walked), 0) FROM erasures))`
