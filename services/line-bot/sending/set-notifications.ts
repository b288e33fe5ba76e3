/** Replaces the scheduled notifications. */
import { audit } from '#shared/service/security/audit-log.ts'
import type { Operator } from '#shared/service/security/admin-auth.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Notifications, SetNotificationsRequest } from '#shared/contracts/messages.ts'
import { PLAN_ID, readNotifications } from '#shared/service/line/scheduled-notifications.ts'
import { notificationPlan } from '#shared/stores/schema/messages.ts'
import { slotChanges } from './slot-changes.ts'

/** A slot that was sent today is not sent again today, even if its hour changes. */
export async function setNotifications(
  { db, now }: ServiceContext,
  operator: Operator,
  { slots }: SetNotificationsRequest,
  requestId: string,
): Promise<Notifications> {
  const fields = { slots, changedAt: new Date(now()), changedBy: operator.name }
  return db.orm.transaction(async (tx) => {
    const before = await readNotifications(tx)
    await tx
      .insert(notificationPlan)
      .values({ id: PLAN_ID, ...fields })
      .onConflictDoUpdate({ target: notificationPlan.id, set: fields })
    const details = {
      slots: slots.map(({ id, hour, enabled }) => ({ id, hour, enabled })),
      changes: slotChanges(before.slots, slots),
    }
    await audit(tx, operator, 'set-notifications', details, requestId, now())
    return readNotifications(tx)
  })
}
