/** What a phone reads when the buffer refuses. */
import type { Window } from '#shared/config/config.ts'
import { notActive, Refusal, unavailable } from '#shared/http/errors.ts'
import type { Verdict } from '#shared/kv/kv.ts'
import { rateLimited } from '#shared/security/rate-limits.ts'

/** The refusal that a verdict other than `admitted` means. */
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
        'Too many of your points wait to be stored: keep the rest and send it after the next flush.',
        { 'Retry-After': '300' },
      )
    case 'unknown':
      return unavailable('The status of the event is not known just now: please try again in a moment.')
  }
}
