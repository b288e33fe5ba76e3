/** The hourly job: what the schedule says for this hour goes out, each slot once a day whatever restarts. */
import { readStatus } from '#shared/lifecycle/activity-status.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { Event } from '#shared/contracts/events.ts'
import type { NotificationSlot } from '#shared/contracts/messages.ts'
import { isDatabaseUnavailable } from '#shared/db/db.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { readNotifications } from '#shared/line/scheduled-notifications.ts'
import { notificationDispatches } from '#shared/schema/messages.ts'

/** The hour is looked at again and again: a start or a database that is back within it is soon enough. */
const LOOK_MS = 30_000

/** Dispatches what is due at this moment. @returns how many slots went out by this call */
export async function dispatchNotifications(context: ServiceContext): Promise<number> {
  const { config, db, now, calendar } = context
  const atMs = now()
  if (atMs < (config.startsMs ?? -Infinity) || atMs >= (config.endsMs ?? Infinity)) return 0
  if ((await readStatus(db)).status !== 'active') return 0
  const day = calendar.day(atMs)
  const hour = localHour(context, atMs)
  const { slots } = await db.read(() => readNotifications(db.orm))
  const due = slots.filter(
    (slot) => slot.enabled && slot.hour === hour && (slot.dates?.includes(day) ?? true),
  )
  let dispatched = 0
  for (const slot of due) if (await dispatch(context, slot, day)) dispatched++
  return dispatched
}

/** The hour that clocks in the event's zone show: 0 to 23, also on days that are longer or shorter. */
function localHour({ calendar }: ServiceContext, ms: number): number {
  const [year, month, date] = calendar.day(ms).split('-').map(Number) as [number, number, number]
  for (let hour = 23; hour > 0; hour--) if (calendar.instant(year, month, date, hour, 0, 0) <= ms) return hour
  return 0
}

async function dispatch(context: ServiceContext, slot: NotificationSlot, day: string): Promise<boolean> {
  const { db, outbox, now, log } = context
  const event = await db.orm.transaction(async (tx): Promise<Event | null> => {
    const fresh = await tx
      .insert(notificationDispatches)
      .values({ slot: slot.id, day, dispatchedAt: new Date(now()) })
      .onConflictDoNothing()
      .returning({ slot: notificationDispatches.slot })
    if (fresh.length === 0) return null
    return (await outbox.add(tx, 'event.scheduler.notification.due', { day, slot })) as Event
  })
  if (event === null) return false
  log.info('a scheduled notification goes out', { slot: slot.id, day })
  void outbox.ring(event)
  return true
}

/** Dispatches from now on. @returns what stops it */
export function startNotifications(context: ServiceContext): () => Promise<void> {
  const { log } = context
  let running: Promise<unknown> | null = null
  const look = () => {
    running ??= dispatchNotifications(context)
      .catch((error: unknown) => {
        if (!isDatabaseUnavailable(error))
          log.error('scheduled notifications are not dispatched', errorFields(error))
      })
      .finally(() => (running = null))
  }
  const timer = setInterval(look, LOOK_MS)
  look()
  return async () => {
    clearInterval(timer)
    await running
  }
}
