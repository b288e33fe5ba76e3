/** Until when a message makes sense. What comes later is recorded as expired, and not sent. */
import { eq } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import { ACTIVITY_ID } from '#shared/pilgrims/activity-status.ts'
import type { Writer } from '#shared/stores/bus/outbox.ts'
import { activity } from '#shared/stores/schema/tables.ts'

const HOUR_MS = 3_600_000

export const EXPIRED = 'expired: it came too late'

/**
 * Whether it is too late for a message: for a pause once the status has changed again, for a notification after its hour.
 * @param causeKey names cause and subject, as in `messages.cause_key`
 * @param sinceMs when the subject began or the message was planned, epoch milliseconds
 */
export async function isExpired(
  { calendar, now }: Pick<ServiceContext, 'calendar' | 'now'>,
  tx: Writer,
  causeKey: string,
  sinceMs: number,
): Promise<boolean> {
  if (causeKey.startsWith('notification:')) return now() >= calendar.hourStart(sinceMs) + HOUR_MS
  if (!causeKey.startsWith('pause:')) return false
  const [row] = await tx.select().from(activity).where(eq(activity.id, ACTIVITY_ID))
  return row?.status !== 'paused'
}
