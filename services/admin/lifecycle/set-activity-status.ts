/** Reading and setting the activity's status. */
import { and, desc, eq, inArray } from 'drizzle-orm'
import { ACTIVITY_ID, readEndProgress } from '#shared/pilgrims/activity-status.ts'
import { publishStatus } from '#shared/pilgrims/kv-copies.ts'
import { audit } from '#shared/service/security/audit-log.ts'
import type { Operator } from '#shared/service/security/admin-auth.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { type Event, SUBSCRIBERS } from '#shared/contracts/events.ts'
import { ActivityStatus, time } from '#shared/contracts/fields.ts'
import type { Activity, Ending, SetStatusRequest } from '#shared/contracts/operations.ts'
import { conflict, unavailable } from '#shared/runtime/refusal.ts'
import { isKvUnavailable } from '#shared/stores/kv/kv.ts'
import type { Writer } from '#shared/stores/bus/outbox.ts'
import { activity, handled, outbox as events } from '#shared/stores/schema/tables.ts'

type Row = typeof activity.$inferSelect

const shown = (row: Row, ending: Ending | null): Activity => ({
  status: ActivityStatus.parse(row.status),
  message: row.message,
  changed_at: time(row.changedAt.getTime()),
  changed_by: row.changedBy,
  ending,
})

/** The status, and the progress of the end. */
export async function readActivity({ db }: ServiceContext): Promise<Activity> {
  const [row] = await db.read(() => db.orm.select().from(activity).where(eq(activity.id, ACTIVITY_ID)))
  return shown(row!, row!.status === 'ended' ? await db.read(() => readEndProgress(db.orm)) : null)
}

/**
 * Pauses or resumes. Resolves when every partition of the kv has the new status. A repeated status changes only the
 * message, if one is given. An empty message deletes it. What changes nothing and is in effect does not need the kv.
 * @throws Refusal 409 after the end; 503 when the change is stored but not yet in every partition of the kv
 */
export async function setStatus(
  context: ServiceContext,
  operator: Operator,
  { status, message }: SetStatusRequest,
  requestId: string,
): Promise<Activity> {
  const { db, kv, outbox } = context
  const nowMs = context.now()
  const { row, event, inEffect } = await db.orm.transaction(async (tx) => {
    const [held] = await tx.select().from(activity).where(eq(activity.id, ACTIVITY_ID)).for('update')
    if (held!.status === 'ended') throw conflict('The event has ended. An ended event can not be reopened.')
    if (held!.status === status) {
      const row = await changeMessage(tx, held!, message)
      if (row !== held!) await audit(tx, operator, 'set-status-message', messageChange(row), requestId, nowMs)
      return { row, event: null, inEffect: row === held! && (await isSpread(tx)) }
    }
    const changed = await change(tx, held!, {
      status,
      message: message?.trim() || null,
      changedAt: new Date(nowMs),
      changedBy: operator.name,
    })
    await audit(tx, operator, 'set-status', { status, message: changed.message }, requestId, nowMs)
    const subject = status === 'paused' ? 'event.admin.status.paused' : 'event.admin.status.resumed'
    const payload = { status, version: changed.version, message: changed.message, changed_at: time(nowMs) }
    return { row: changed, event: (await outbox.add(tx, subject, payload)) as Event, inEffect: false }
  })
  try {
    await publishStatus(db, kv)
  } catch (error) {
    if (!isKvUnavailable(error)) throw error
    if (inEffect) return shown(row, null)
    throw unavailable(
      'The new status is stored but not yet in effect everywhere. The service keeps retrying.',
    )
  } finally {
    if (event !== null) void outbox.ring(event)
  }
  return shown(row, null)
}

/** Whether the latest change of the status has reached every partition of the kv. */
async function isSpread(tx: Writer): Promise<boolean> {
  const subscriber = 'admin.spread-status'
  const [latest] = await tx
    .select({ handledBy: handled.subscriber })
    .from(events)
    .leftJoin(handled, and(eq(handled.eventId, events.id), eq(handled.subscriber, subscriber)))
    .where(inArray(events.subject, [...SUBSCRIBERS[subscriber]]))
    .orderBy(desc(events.id))
    .limit(1)
  return latest === undefined || latest.handledBy !== null
}

/** Updates the activity and raises its version, so that every cached copy is replaced. */
async function change(tx: Writer, held: Row, fields: Partial<Row>): Promise<Row> {
  const [changed] = await tx
    .update(activity)
    .set({ ...fields, version: held.version + 1 })
    .where(eq(activity.id, ACTIVITY_ID))
    .returning()
  return changed!
}

/** Stores a given message. Returns the unchanged row when no message is given, or the same one. */
function changeMessage(tx: Writer, held: Row, given: string | null | undefined): Promise<Row> | Row {
  const message = given?.trim() || null
  if (given === null || given === undefined || message === held.message) return held
  return change(tx, held, { message })
}

/** The audit log's details of a new message. The status keeps its time. */
const messageChange = ({ status, message, changedAt, changedBy }: Row) => ({
  status,
  message,
  changed_at: time(changedAt.getTime()),
  changed_by: changedBy,
})
