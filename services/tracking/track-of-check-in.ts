/** The track points that come with a check-in. Faults in them never cause the check-in to be refused. */
import { acceptTrack, type AcceptRules } from '#shared/buffer/validate/validate-points.ts'
import { durableThrough } from '#shared/buffer/sync-track.ts'
import type { Point } from '#shared/buffer/point.ts'
import { MAX_POINTS } from '#shared/contracts/fields.ts'
import { MAX_ATTACHED } from '#shared/contracts/gps-points.ts'
import type { AttachedAnswer } from '#shared/contracts/tracking.ts'

type Rejected = Readonly<AttachedAnswer['rejected']>

export interface AttachedTrack {
  /** Number of entries that the client sent. */
  readonly size: number
  readonly points: readonly Point[]
  readonly rejected: Rejected
  /** Time of the earliest point that the phone has to send again; infinity when there is none. */
  readonly resendFromMs: number
}

/** @param given the value of `track_points`, not validated */
export function acceptAttached(given: unknown, receivedMs: number, rules: AcceptRules): AttachedTrack {
  const list: readonly unknown[] = Array.isArray(given) ? given : []
  const { points, rejected } = acceptTrack(list.slice(0, MAX_ATTACHED), receivedMs, rules)
  const whole = { size: list.length, points, resendFromMs: Infinity }
  if (!Array.isArray(given)) return { ...whole, rejected: [{ index: 0, reason: 'not-a-list' }] }
  // No phone records so many in a body of this size. None is named by itself: the answer would be longer than the body.
  if (list.length > MAX_POINTS)
    return { ...whole, points: [], rejected: [{ index: 0, reason: 'too-many' }], resendFromMs: -Infinity }
  if (list.length <= MAX_ATTACHED) return { ...whole, rejected }
  const rest = acceptTrack(list.slice(MAX_ATTACHED), receivedMs, rules)
  const faults = new Map(rest.rejected.map(({ index, reason }) => [index, reason]))
  const more: Rejected = list
    .slice(MAX_ATTACHED)
    .map((_, i) => ({ index: MAX_ATTACHED + i, reason: faults.get(i) ?? 'too-many' }))
  return { ...whole, rejected: [...rejected, ...more], resendFromMs: earliestMs(rest.points) }
}

/** The part of the answer about the track. @param duplicates how many of the points were stored already */
export const attachedAnswer = (
  { points, rejected, resendFromMs }: AttachedTrack,
  duplicates: number,
): AttachedAnswer => ({
  accepted: points.length - duplicates,
  duplicates,
  rejected: [...rejected],
  // The phone deletes its points up to this time, so every point that it has to send again must be later.
  durable_through: durableThrough(points.filter(({ sentMs }) => sentMs < resendFromMs)),
})

/** The same track with every point rejected, because the pilgrim's buffer is full. */
export function withoutPoints({ size, rejected }: AttachedTrack): AttachedTrack {
  const faults = new Map(rejected.map(({ index, reason }) => [index, reason]))
  const all: Rejected = Array.from({ length: size }, (_, index) => ({
    index,
    reason: faults.get(index) ?? 'no-room',
  }))
  return { size, points: [], rejected: all, resendFromMs: -Infinity }
}

const earliestMs = (points: readonly Point[]): number =>
  points.reduce((earliest, { sentMs }) => Math.min(earliest, sentMs), Infinity)
