/** The error that a phone gets when the buffer refuses its points. */
import type { Window } from '#shared/runtime/config/config.ts'
import {
  erasedPerson,
  forbidden,
  notActive,
  rateLimited,
  Refusal,
  unavailable,
} from '#shared/runtime/refusal.ts'
import type { Verdict } from '#shared/stores/kv/kv.ts'

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
    case 'unknown':
      return unavailable('The status of the event is not known at the moment. Please try again shortly.')
  }
}
