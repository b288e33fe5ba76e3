/** The cards to draw at the end of the event, and how many of them are up to date. */
import { CARD_CHECKINS } from '#shared/core/rules/levels.ts'
import type { Database, Tx } from '#shared/stores/db/db.ts'

/** The rule of the achievement card (`achievementCard`) in SQL. */
export const unlocked = (tx: Tx) =>
  tx.sql`(t.checkins >= ${CARD_CHECKINS}::int AND p.survey_completed_at IS NOT NULL AND p.phone IS NOT NULL)`

/**
 * Pilgrims who may share, with a card or an unlocked achievement. Pilgrims without a point share a card that never
 * changes.
 */
export const wanted = (tx: Tx) =>
  tx.sql`(t.points > 0 AND p.participant_status <> 'withdrawn' AND NOT p.consent_withdrawn AND (${unlocked(tx)} OR c.fingerprint IS NOT NULL))`

/** Counts the cards that the end draws, and how many of them are up to date. */
export async function countCards({
  db,
}: {
  readonly db: Database
}): Promise<{ done: number; total: number }> {
  const [row] = await db.read(
    () => db.sql<{ done: number; total: number }[]>`
      SELECT count(*)::int AS total, (count(*) FILTER (
        WHERE c.fingerprint IS NOT NULL AND c.unlocked = ${unlocked(db)} AND c.points = t.points
      ))::int AS done
      FROM pilgrims p
      JOIN pilgrim_totals t ON t.user_id = p.user_id
      LEFT JOIN share_cards c ON c.user_id = p.user_id
      WHERE ${wanted(db)}`,
  )
  return row!
}
