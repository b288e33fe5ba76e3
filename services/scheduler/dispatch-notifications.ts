/** The hourly job: dispatches the notifications of this hour, each slot once a day, even across restarts. */
import { readStatus } from '#shared/pilgrims/activity-status.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Event } from '#shared/contracts/events.ts'
import type { NotificationSlot } from '#shared/contracts/messages.ts'
import { eachApart, type Repeated, repeated } from '#shared/stores/repeated-work.ts'
import { readNotifications, startOfSlot } from '#shared/service/line/scheduled-notifications.ts'
import { notificationDispatches } from '#shared/stores/schema/tables.ts'

/** A notification is due during its whole hour, so a late start or a database outage only delays it. */
const POLL_MS = 30_000
const HOUR_MS = 3_600_000

export async function dispatchNotifications(context: ServiceContext): Promise<number> {
  const { event, db, now, calendar } = context
  const atMs = now()
  const { startsMs, endsMs } = event.current
  if (atMs < (startsMs ?? -Infinity) || atMs >= (endsMs ?? Infinity)) return 0
  if ((await readStatus(db)).status !== 'active') return 0
  const day = calendar.day(atMs)
  const { slots } = await db.read(() => readNotifications(db))
  const due = slots.filter((slot) => {
    const sinceMs = atMs - startOfSlot(calendar, day, slot)
    return slot.enabled && sinceMs >= 0 && sinceMs < HOUR_MS && (slot.dates?.includes(day) ?? true)
  })
  let dispatched = 0
  await eachApart(context, 'scheduled notifications', due, async (slot) => {
    if (await dispatch(context, slot, day)) dispatched++
  })
  return dispatched
}

async function dispatch(context: ServiceContext, slot: NotificationSlot, day: string): Promise<boolean> {
  const { db, outbox, now, log } = context
  const event = await db.transaction(async (tx): Promise<Event | null> => {
    const fresh = await tx.orm
      .insert(notificationDispatches)
      .values({ slot: slot.id, day, dispatchedAt: new Date(now()) })
      .onConflictDoNothing()
      .returning({ slot: notificationDispatches.slot })
    if (fresh.length === 0) return null
    return (await outbox.add(tx, 'event.scheduler.notification.due', { day, slot })) as Event
  })
  if (event === null) return false
  log.info('a scheduled notification is dispatched', { slot: slot.id, day })
  void outbox.ring(event)
  return true
}

export const createNotifications = (context: ServiceContext): Repeated =>
  repeated(context.log, 'scheduled notifications could not be dispatched', POLL_MS, () =>
    dispatchNotifications(context),
  )
