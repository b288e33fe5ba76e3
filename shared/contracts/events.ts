/**
 * Domain events between services. An event is a row of the outbox, written in the transaction of the
 * change that it reports. Each subscriber handles it at least once; its effect happens once.
 */
import { z } from 'zod'
import { LineEvent } from './bot.ts'
import { ActivityStatus, Time } from './fields.ts'
import { NotificationSlot } from './messages.ts'
import { StatusMessages } from './operations.ts'

const StatusChanged = z.object({
  status: ActivityStatus,
  version: z.int(),
  message: z.string().nullable(),
  messages: StatusMessages.nullish(),
  changed_at: Time,
})

/** Subject → payload. Subjects are `event.<owner>.<noun>.<past-verb>`. */
export const EVENTS = {
  'event.admin.status.paused': StatusChanged,
  'event.admin.status.resumed': StatusChanged,
  'event.admin.activity.ended': StatusChanged,
  'event.admin.flush.requested': z.object({ requested_at: Time }),
  'event.line-bot.webhook.received': LineEvent,
  'event.tracking.emergency.raised': z.object({ emergency_id: z.uuid() }),
  'event.scheduler.notification.due': z.object({ day: z.iso.date(), slot: NotificationSlot }),
} as const

export type Subject = keyof typeof EVENTS
export type Payload<S extends Subject> = z.infer<(typeof EVENTS)[S]>

/**
 * Subscribers and their subjects. A name is `<service>.<verb>` and must never change: the database records handled
 * events under it.
 */
export const SUBSCRIBERS = {
  'admin.spread-status': [
    'event.admin.status.paused',
    'event.admin.status.resumed',
    'event.admin.activity.ended',
  ],
  'feedback-media.draw-cards': ['event.admin.activity.ended'],
  'scheduler.flush': ['event.admin.activity.ended', 'event.admin.flush.requested'],
  'line-bot.answer': ['event.line-bot.webhook.received'],
  'line-bot.notify-volunteers': ['event.admin.status.paused'],
  'line-bot.final-summary': ['event.admin.activity.ended'],
  'line-bot.alert-emergency': ['event.tracking.emergency.raised'],
  'line-bot.send-notification': ['event.scheduler.notification.due'],
} as const satisfies Record<string, readonly Subject[]>

export type Subscriber = keyof typeof SUBSCRIBERS

/** A row of the outbox. */
export interface Event<S extends Subject = Subject> {
  readonly id: number
  readonly subject: S
  readonly payload: Payload<S>
}
