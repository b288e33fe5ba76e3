/**
 * Ends the event in one transaction, which writes a domain event. Everything else is done by the subscribers of that
 * domain event, so it continues after any restart.
 */
import { eq } from 'drizzle-orm'
import { ACTIVITY_ID, readStatus, recordEnd } from '#shared/pilgrims/activity-status.ts'
import { publishStatus } from '#shared/pilgrims/kv-copies.ts'
import { audit } from '#shared/service/security/audit-log.ts'
import type { Operator } from '#shared/service/security/admin-auth.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { Activity, EndPreview } from '#shared/contracts/operations.ts'
import { unavailable } from '#shared/runtime/refusal.ts'
import { isKvUnavailable } from '#shared/stores/kv/kv.ts'
import { activity } from '#shared/stores/schema/tables.ts'
import { readActivity } from './set-activity-status.ts'
import { readLedger } from '#shared/points/ledger/ledger.ts'
import { countCards } from '#shared/pilgrims/cards-at-end.ts'

/** The longest time that the answer waits for the final flush. `GET admin/status` shows the progress. */
const FLUSH_WAIT_MS = 20_000
const POLL_MS = 100

/**
 * Ends an active or paused event. A repeated call changes nothing and returns the state of the first.
 * @throws Refusal 503 when the end is stored but not yet in every partition of the kv
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
    throw unavailable(
      'The event has ended, but this is not yet in effect everywhere. The service keeps retrying.',
    )
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

/** @returns the domain event to announce; null when the activity had ended before */
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

// What ending the event would do now. It changes nothing.

/** @throws Refusal 503 when the buffer can not be read */
export async function previewEnd({ db, kv, now }: ServiceContext): Promise<EndPreview> {
  try {
    const [{ status }, ledger, pilgrims, cards] = await Promise.all([
      readStatus(db),
      readLedger(db, kv),
      kv.bufferSize(),
      countCards({ db }),
    ])
    return {
      status,
      points_waiting: ledger.pending,
      pilgrims_waiting: pilgrims,
      points_journaled: ledger.journaled,
      cards,
      as_of: time(now()),
    }
  } catch (error) {
    if (!isKvUnavailable(error)) throw error
    throw unavailable(
      'The buffer cannot be read, so it is not known what waits. Please try again in a moment.',
    )
  }
}
