/**
 * `first_seen` and `last_seen`, which mean the same in every answer: when the first and the latest of a pilgrim's
 * points inside the event's area were recorded, points in the buffer included. Null for a pilgrim without any:
 * neither a form that was sent nor a point outside the area is a sight of somebody.
 */
import { Time, time } from './fields.ts'

export const FirstSeen = Time.describe('Of the first point inside the event’s area; null without any')
export const LastSeen = Time.describe('Of the latest point inside the event’s area; null without any')

/** Of the statistics' `firstMs` or `lastMs`; null where there are none. */
export const seenAt = (ms: number | null | undefined): Time | null =>
  ms === null || ms === undefined ? null : time(ms)
