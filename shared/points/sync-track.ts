/** A batch of track points: each is accepted or rejected on its own, and the answer lists what the phone may delete. */
import type { TrackSyncRequest } from '#shared/contracts/gps-points.ts'
import type { TrackSyncAnswer } from '#shared/contracts/tracking.ts'
import type { Window } from '#shared/runtime/config/config.ts'
import type { Entry, Submission, Verdict } from '#shared/stores/kv/kv.ts'
import { type AcceptRules, acceptTrack, latestPosition } from './accept.ts'
import { countRejected, durableThrough, refusalOfVerdict, submissionId } from './admission.ts'
import type { Count } from './ledger/counters.ts'
import { pack } from './point.ts'

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
  const { points, ofFullDays, rejected } = acceptTrack(
    request.points,
    receivedMs,
    rules,
    rules.fullDaysOf?.(request.user_id),
  )
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
    position: latestPosition([...points, ...ofFullDays]),
  })
  const repeated = points.length - distinct.size
  // Repeated points count even when the batch is refused, because it was received. The admission counts the others.
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
