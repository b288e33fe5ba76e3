/**
 * The end of the event. The end itself is one transaction; everything after it happens by the event that the
 * transaction wrote, in the services that do it, and survives any restart.
 */
import { eq } from 'drizzle-orm'
import { ACTIVITY_ID, publishStatus } from '#shared/lifecycle/activity-status.ts'
import { audit } from '#shared/security/audit-log.ts'
import type { Operator } from '#shared/security/admin-auth.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { Activity } from '#shared/contracts/operations.ts'
import { recordEnd } from '#shared/lifecycle/end-progress.ts'
import { unavailable } from '#shared/http/errors.ts'
import { isKvUnavailable } from '#shared/kv/kv.ts'
import { activity } from '#shared/schema/operations.ts'
import { readActivity } from './activity-status.ts'

/** The answer waits this long for the final flush; progress is in `GET admin/status`. */
const FLUSH_WAIT_MS = 20_000
const POLL_MS = 100

/**
 * Ends the event, from active or paused. Ending it again changes nothing and answers the state of the first.
 * @throws Refusal 503 when the end stands but is not known everywhere yet
 */
export async function endActivity(
  context: ServiceContext,
  operator: Operator,
  requestId: string,
): Promise<Activity> {
  const { db, kv, outbox } = context
  const event = await end(context, operator, requestId)
  try {
    await publishStatus(db, kv)
  } catch (error) {
    if (!isKvUnavailable(error)) throw error
    throw unavailable('The event has ended, but this is not known everywhere yet; it is being retried.')
  } finally {
    if (event !== null) void outbox.ring(event)
  }
  const until = performance.now() + (event === null ? 0 : FLUSH_WAIT_MS)
  for (;;) {
    const state = await readActivity(context)
    if (state.ending?.flush === 'done' || performance.now() >= until) return state
    await Bun.sleep(POLL_MS)
  }
}

/** @returns the event to ring for; null when the activity had ended before */
async function end({ db, outbox, now }: ServiceContext, operator: Operator, requestId: string) {
  return db.orm.transaction(async (tx) => {
    const [held] = await tx.select().from(activity).where(eq(activity.id, ACTIVITY_ID)).for('update')
    if (held!.status === 'ended') return null
    const changedAt = new Date(now())
    const version = held!.version + 1
    await tx
      .update(activity)
      .set({ status: 'ended', version, message: null, changedAt, changedBy: operator.name })
      .where(eq(activity.id, ACTIVITY_ID))
    await recordEnd(tx, changedAt)
    await audit(tx, operator, 'end-activity', { from: held!.status }, requestId, now())
    return outbox.add(tx, 'event.admin.activity.ended', {
      status: 'ended',
      version,
      message: null,
      changed_at: time(now()),
    })
  })
}
