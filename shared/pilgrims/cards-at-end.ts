/** The cards to draw at the end of the event, and how many of them are up to date. */
import { CARD_CHECKINS } from '#shared/core/rules/levels.ts'
import type { Database, Tx } from '#shared/stores/db/db.ts'

/** The rule of the achievement card (`achievementCard`) in SQL. */
const unlocked = (tx: Tx) =>
  tx.sql`(t.checkins >= ${CARD_CHECKINS}::int AND p.survey_completed_at IS NOT NULL AND p.phone IS NOT NULL)`

/**
 * Pilgrims who may share, with a card or an unlocked achievement. Pilgrims without a point share a card that never
 * changes.
 */
export const wanted = (tx: Tx) =>
  tx.sql`(t.points > 0 AND p.participant_status <> 'withdrawn' AND NOT p.consent_withdrawn AND (${unlocked(tx)} OR c.fingerprint IS NOT NULL))`

/** Tolerance for the clocks of two machines (ms): an extra check is better than a missed card. */
export const CLOCKS_MS = 5_000

/**
 * Cards that may not show the current figures. One from before the end shows rounded figures, unless single pilgrims are
 * on the map.
 */
export const stale = (tx: Tx) => {
  const tolerance = tx.sql`${CLOCKS_MS / 1_000}::float8 * interval '1 second'`
  return tx.sql`(c.fingerprint IS NULL OR c.unlocked IS DISTINCT FROM ${unlocked(tx)} OR c.points <> t.points
    OR p.updated_at > c.checked_at - ${tolerance} OR c.checked_at < (SELECT ended_at FROM ending) + ${tolerance})`
}

export async function countCards({
  db,
}: {
  readonly db: Database
}): Promise<{ done: number; total: number }> {
  const [row] = await db.read(
    () => db.sql<{ done: number; total: number }[]>`
      SELECT count(*)::int AS total, (count(*) FILTER (WHERE ${stale(db)} IS NOT TRUE))::int AS done
      FROM pilgrims p
      JOIN pilgrim_totals t ON t.user_id = p.user_id
      LEFT JOIN share_cards c ON c.user_id = p.user_id
      WHERE ${wanted(db)}`,
  )
  return row!
}
