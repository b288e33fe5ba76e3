/** The expiry of messages. A message that is too late is recorded as expired, and not sent. */
import { and, eq, gt, isNull, like } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import { ACTIVITY_ID } from '#shared/pilgrims/activity-status.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { activity, emergencies, messages } from '#shared/stores/schema/tables.ts'

const HOUR_MS = 3_600_000

export const EXPIRED = 'expired: it came too late'

/**
 * Whether it is too late for a message: for a pause once it has ended, for a notification after its
 * hour, for an alert of emergencies once they are confirmed, or a later alert is planned.
 * @param causeKey names cause and subject, as in `messages.cause_key`
 * @param sinceMs when the subject began or the message was planned, epoch milliseconds
 */
export async function isExpired(
  { calendar, now }: Pick<ServiceContext, 'calendar' | 'now'>,
  tx: Tx,
  causeKey: string,
  sinceMs: number,
): Promise<boolean> {
  if (causeKey.startsWith('notification:')) return now() >= calendar.hourStart(sinceMs) + HOUR_MS
  const [cause, id, alert] = causeKey.split(':')
  if (cause === 'emergency') {
    const [row] = await tx.orm.select().from(emergencies).where(eq(emergencies.id, id!))
    return row === undefined || row.confirmedAt !== null || row.alerts > Number(alert)
  }
  if (cause === 'emergencies') {
    const later = and(like(messages.causeKey, 'emergencies:%'), gt(messages.createdAt, new Date(sinceMs)))
    return (
      (await tx.orm.$count(emergencies, isNull(emergencies.confirmedAt))) === 0 ||
      (await tx.orm.$count(messages, later)) > 0
    )
  }
  if (cause !== 'pause') return false
  const [row] = await tx.orm.select().from(activity).where(eq(activity.id, ACTIVITY_ID))
  // A later pause has its own message.
  return row?.status !== 'paused' || row.changedAt.getTime() > sinceMs
}
