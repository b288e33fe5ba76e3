/** Changes the status or the note of an item. */
import { eq } from 'drizzle-orm'
import { audit } from '#shared/service/security/audit-log.ts'
import type { Acting } from '#shared/service/security/admin-auth.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import type { FeedbackItem, FeedbackUpdate } from '#shared/contracts/feedback.ts'
import { conflict, notFound } from '#shared/runtime/refusal.ts'
import { feedback, pilgrims } from '#shared/stores/schema/tables.ts'
import { FEEDBACK_ROW, feedbackItem } from './list-feedback.ts'

/**
 * Sets status or note, with an audit entry. The time of the first `fixed` stays; any other status clears it.
 * @throws Refusal 404 for an unknown item, 409 when another operator has changed what the client saw
 */
export async function updateFeedback(
  { db, now }: ServiceContext,
  operator: Acting,
  id: number,
  { status, admin_note: note, seen = {} }: FeedbackUpdate,
): Promise<FeedbackItem> {
  return db.orm.transaction(async (tx) => {
    const [previous] = await tx.select().from(feedback).where(eq(feedback.id, id)).for('update')
    if (previous === undefined) throw notFound(`There is no feedback with the id ${id}.`)
    const next = status ?? previous.status
    const newNote = note == null ? previous.adminNote : note.trim() || null
    // What is already as it should be contradicts nobody.
    if (seen.status !== undefined && seen.status !== previous.status && next !== previous.status)
      throw conflict(`Somebody has set this item to ${previous.status} meanwhile. Nothing was changed.`)
    if (
      seen.admin_note !== undefined &&
      (seen.admin_note || null) !== previous.adminNote &&
      newNote !== previous.adminNote
    )
      throw conflict('Somebody has changed the note of this item meanwhile. Nothing was changed.')
    await tx
      .update(feedback)
      .set({
        status: next,
        adminNote: newNote,
        resolvedAt: next === 'fixed' ? (previous.resolvedAt ?? new Date(now())) : null,
        updatedAt: new Date(now()),
      })
      .where(eq(feedback.id, id))
    const change = { id, from: previous.status, status: next, note_changed: note != null }
    await audit(tx, operator, 'update-feedback', change, now())
    const [row] = await tx
      .select(FEEDBACK_ROW)
      .from(feedback)
      .leftJoin(pilgrims, eq(pilgrims.userId, feedback.userId))
      .where(eq(feedback.id, id))
    return feedbackItem(row!)
  })
}
