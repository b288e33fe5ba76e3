/** What a check-in and a track have in common: the id of their submission, and what of its verdict a phone is told. */
import type { Window } from '#shared/runtime/config/config.ts'
import { erasedPerson, forbidden, notActive, rateLimited, Refusal } from '#shared/runtime/refusal.ts'
import type { Verdict } from '#shared/stores/kv/kv.ts'
import { type Time, time } from '#shared/contracts/fields.ts'
import type { PointRejection } from '#shared/contracts/tracking.ts'
import type { Count } from './ledger/process-counters.ts'
import type { Point } from './point.ts'

const PROCESS = Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString('base64url')
let count = 0

/** Returns an id that is unique across processes. It is short, because windows store it. */
export const submissionId = (): string => `${PROCESS}${(count++).toString(36)}`

/** Returns the refusal for a verdict other than `admitted`. */
export function refusalOfVerdict(
  verdict: Exclude<Verdict, { outcome: 'admitted' }>,
  limitName: string,
  limit: Window,
): Refusal {
  switch (verdict.outcome) {
    case 'limited':
      return rateLimited(limitName, limit, verdict.retryAfterMs)
    case 'refused':
      return notActive(verdict.status, verdict.message)
    case 'full':
      return new Refusal(
        503,
        'buffer-full',
        'Too many of your points are not stored yet. Keep the rest and send it in five minutes.',
        { 'Retry-After': '300' },
      )
    case 'erased':
      return erasedPerson()
    case 'no-consent':
      return forbidden(
        'You have taken back your consent, so your way is not recorded. Agree to the privacy notice again to go on.',
      )
  }
}

/** Counts rejected points by reason. */
export function countRejected(count: Count, rejected: readonly { readonly reason: PointRejection }[]): void {
  for (const [reason, points] of Map.groupBy(rejected, (one) => one.reason))
    count(`rejected:${reason}`, points.length)
}

/** The latest time of points that are durable; null where there is none. */
export const durableThrough = (points: readonly Point[]): Time | null =>
  points.length === 0 ? null : time(points.reduce((latest, { sentMs }) => Math.max(latest, sentMs), 0))
