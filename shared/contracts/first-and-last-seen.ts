/**
 * `first_seen` and `last_seen` mean the same in every answer: the recording times of a pilgrim's first and latest
 * point inside the event's area, pending points included. They are null for a pilgrim without such a point. Forms
 * and points outside the area do not count.
 */
import { Time, time } from './fields.ts'

export const FirstSeen = Time.describe('Time of the first point inside the event’s area; null without any')
export const LastSeen = Time.describe('Time of the latest point inside the event’s area; null without any')

/** Converts `firstMs` or `lastMs` of the statistics (epoch milliseconds) to an ISO time. */
export const seenAt = (ms: number | null | undefined): Time | null =>
  ms === null || ms === undefined ? null : time(ms)
