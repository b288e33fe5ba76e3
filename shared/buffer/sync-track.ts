/** A batch of track points: each is taken or rejected by itself, and the phone learns what it may delete. */
import { acceptTrack, type AcceptRules, latestPosition } from './accept.ts'
import { fieldOf, pack, type Point } from './point.ts'
import type { Window } from '#shared/config.ts'
import { time } from '#shared/contracts/fields.ts'
import type { TrackSyncAnswer, TrackSyncRequest } from '#shared/contracts/tracking.ts'
import type { Submission, Verdict } from '#shared/kv/kv.ts'
import { refusedVerdict } from './refused-verdict.ts'

export interface SyncRules extends AcceptRules {
  readonly limit: Window
}

/**
 * Takes a batch.
 * @throws Refusal 403 paused or ended, 429, 503
 */
export async function syncTrack(
  admitTrack: (submission: Submission) => Promise<Verdict>,
  request: TrackSyncRequest,
  receivedMs: number,
  rules: SyncRules,
): Promise<TrackSyncAnswer> {
  const { points, rejected } = acceptTrack(request.points, receivedMs, rules)
  // Of points with one identity in a batch the first counts.
  const byIdentity = new Map<string, Point>()
  for (const point of points) {
    const field = fieldOf(point)
    if (!byIdentity.has(field)) byIdentity.set(field, point)
  }
  const distinct = [...byIdentity.values()]
  const verdict = await admitTrack({
    id: crypto.randomUUID(),
    userId: request.user_id,
    kind: 'sync',
    entries: distinct.map(pack),
    duplicateKey: '',
    recordedMs: receivedMs,
    position: latestPosition(distinct),
  })
  if (verdict.outcome !== 'admitted') throw refusedVerdict(verdict, 'sync', rules.limit)
  const repeated = points.length - distinct.length
  return {
    accepted: distinct.length - verdict.duplicates,
    duplicates: verdict.duplicates + repeated,
    rejected: [...rejected],
    durable_through: points.length === 0 ? null : time(latestMs(points)),
  }
}

const latestMs = (points: readonly Point[]): number =>
  points.reduce((latest, point) => Math.max(latest, point.sentMs), 0)
