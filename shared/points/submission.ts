/** What a check-in and a track have in common: the id of their submission, and what of its verdict a phone is told. */
import type { Window } from '#shared/runtime/config/config.ts'
import { erasedPerson, forbidden, notActive, rateLimited, Refusal } from '#shared/runtime/refusal.ts'
import type { Verdict, Entry, Submission } from '#shared/stores/kv/kv.ts'
import { type Time, time } from '#shared/contracts/fields.ts'
import type { PointRejection, TrackSyncAnswer } from '#shared/contracts/tracking.ts'
import type { Count } from './ledger/process-counters.ts'
import { type Point, acceptTrack, type AcceptRules, latestPosition, pack } from './point.ts'
import type { TrackSyncRequest } from '#shared/contracts/gps-points.ts'

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

// A batch of track points: each is accepted or rejected by itself, and the answer names what the phone may delete.

export interface SyncRules extends AcceptRules {
  /** Counts points of a batch that do not enter the buffer. */
  readonly count: Count
  readonly limit: Window
}

/**
 * Admits a batch.
 * @param kind whose rate limit applies
 * @throws Refusal 403 paused or ended, 429, 503
 */
export async function syncTrack(
  admitTrack: (submission: Submission) => Promise<Verdict>,
  request: TrackSyncRequest,
  receivedMs: number,
  rules: SyncRules,
  kind: 'sync' | 'ingest' = 'sync',
): Promise<TrackSyncAnswer> {
  const { points, rejected } = acceptTrack(request.points, receivedMs, rules)
  // If several points of a batch have the same identity, the first one counts.
  const distinct = new Map<string, Entry>()
  for (const point of points) {
    const entry = pack(point)
    if (!distinct.has(entry.field)) distinct.set(entry.field, entry)
  }
  const verdict = await admitTrack({
    id: submissionId(),
    userId: request.user_id,
    kind,
    entries: [...distinct.values()],
    duplicateKey: '',
    recordedMs: receivedMs,
    position: latestPosition(points),
  })
  const repeated = points.length - distinct.size
  // Also counted when the batch is refused, because it was received. The other points are counted by the admission.
  rules.count('duplicate', repeated)
  countRejected(rules.count, rejected)
  if (verdict.outcome !== 'admitted') throw refusalOfVerdict(verdict, kind, rules.limit)
  return {
    accepted: distinct.size - verdict.duplicates,
    duplicates: verdict.duplicates + repeated,
    rejected: [...rejected],
    durable_through: durableThrough(points),
  }
}
