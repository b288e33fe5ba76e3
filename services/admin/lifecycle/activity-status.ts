/** The activity's status, as operators read and set it. */
import { eq } from 'drizzle-orm'
import { ACTIVITY_ID, spreadStatus } from '#shared/lifecycle/activity-status.ts'
import { audit } from '#shared/security/audit-log.ts'
import type { Operator } from '#shared/security/admin-auth.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { Event } from '#shared/contracts/events.ts'
import { ActivityStatus, time } from '#shared/contracts/fields.ts'
import type { Activity, Ending, SetStatusRequest } from '#shared/contracts/operations.ts'
import { readEnding } from '#shared/lifecycle/end-progress.ts'
import { conflict, unavailable } from '#shared/http/errors.ts'
import { kvIsAway } from '#shared/kv/kv.ts'
import { activity } from '#shared/schema/operations.ts'

type Row = typeof activity.$inferSelect

const shown = (row: Row, ending: Ending | null): Activity => ({
  status: ActivityStatus.parse(row.status),
  message: row.message,
  changed_at: time(row.changedAt.getTime()),
  changed_by: row.changedBy,
  ending,
})

/** The status, and how far the end has come. */
export async function readActivity({ db }: ServiceContext): Promise<Activity> {
  const [row] = await db.read(() => db.orm.select().from(activity).where(eq(activity.id, ACTIVITY_ID)))
  return shown(row!, row!.status === 'ended' ? await db.read(() => readEnding(db.orm)) : null)
}

/**
 * Pauses or resumes. Answers when every partition of the kv has the new status; the same again notifies
 * nobody.
 * @throws Refusal 409 after the end; 503 when the change stands but is not known everywhere yet
 */
export async function setStatus(
  context: ServiceContext,
  operator: Operator,
  { status, message }: SetStatusRequest,
  requestId: string,
): Promise<Activity> {
  const { db, kv, outbox, now } = context
  const { row, event } = await db.orm.transaction(async (tx) => {
    const [held] = await tx.select().from(activity).where(eq(activity.id, ACTIVITY_ID)).for('update')
    if (held!.status === 'ended') throw conflict('The event has ended; an ended event is not opened again.')
    if (held!.status === status && (message ?? null) === held!.message) return { row: held!, event: null }
    const changedAt = new Date(now())
    const [changed] = await tx
      .update(activity)
      .set({
        status,
        version: held!.version + 1,
        message: message ?? null,
        changedAt,
        changedBy: operator.name,
      })
      .where(eq(activity.id, ACTIVITY_ID))
      .returning()
    await audit(tx, operator, 'set-status', { status, message: message ?? null }, requestId, now())
    if (held!.status === status) return { row: changed!, event: null }
    const subject = status === 'paused' ? 'event.admin.status.paused' : 'event.admin.status.resumed'
    const payload = { status, version: changed!.version, message: changed!.message, changed_at: time(now()) }
    return { row: changed!, event: (await outbox.add(tx, subject, payload)) as Event }
  })
  try {
    await spreadStatus(db, kv)
  } catch (error) {
    if (!kvIsAway(error)) throw error
    throw unavailable('The new status is stored, but not known everywhere yet; it is being retried.')
  } finally {
    if (event !== null) void outbox.ring(event)
  }
  return shown(row, null)
}
