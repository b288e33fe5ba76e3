/** A check-in: validated, decided in one atomic call, durable before it is answered. */
import type { z } from 'zod'
import {
  acceptCheckIn,
  acceptTrack,
  type AcceptRules,
  latestPosition,
} from '#shared/buffer/validate/validate-points.ts'
import type { Buffer } from '#shared/buffer/buffer.ts'
import { fieldOf, pack, type Point, unpack } from '#shared/buffer/point.ts'
import type { Window } from '#shared/config/config.ts'
import { time } from '#shared/contracts/fields.ts'
import type { CheckInAnswer, CheckInRequest } from '#shared/contracts/tracking.ts'
import { refusedVerdict } from '#shared/buffer/admit/refusal-of-verdict.ts'
import { countRejected } from '#shared/buffer/validate/sync-track.ts'
import { submissionId } from '#shared/buffer/admit/submission-id.ts'
import type { Count } from '#shared/ledger/process-counters.ts'

/** Points that may come with a check-in; the rest of a longer list is left for track/sync. */
const MAX_ATTACHED = 1_000

export interface CheckInRules extends AcceptRules {
  /** Told which of the attached points are not taken. */
  readonly count: Count
  readonly limit: Window
}

/** The same position within the window is the same check-in, where the client sent no time. */
const duplicateKey = (request: CheckInRequest, point: Point): string =>
  request.timestamp === undefined || request.timestamp === null
    ? `p${point.lat},${point.lng}`
    : `t${point.sentMs}`

/**
 * Takes a check-in, and the track points that came with it.
 * @throws Refusal 400, 403 paused or ended, 429, 503
 */
export async function checkIn(
  buffer: Pick<Buffer, 'admitCheckIn'>,
  request: CheckInRequest,
  receivedMs: number,
  rules: CheckInRules,
): Promise<z.infer<typeof CheckInAnswer>> {
  const point = acceptCheckIn(request, receivedMs, rules)
  const attached = request.track_points?.slice(0, MAX_ATTACHED) ?? []
  const { points: track, rejected } = acceptTrack(attached, receivedMs, rules)
  const verdict = await buffer.admitCheckIn({
    id: submissionId(),
    userId: request.user_id,
    kind: 'checkin',
    entries: [pack(point), ...track.map(pack)],
    duplicateKey: duplicateKey(request, point),
    recordedMs: point.recordedMs,
    position: latestPosition([point, ...track]),
  })
  countRejected(rules.count, rejected)
  if (verdict.outcome !== 'admitted') throw refusedVerdict(verdict, 'checkin', rules.limit)
  const recordedMs =
    verdict.held === null
      ? verdict.recordedMs
      : unpack({ field: fieldOf(point), value: verdict.held }).recordedMs
  return {
    userId: request.user_id,
    recorded_at: time(recordedMs),
    duplicate: verdict.duplicate,
    pending: verdict.pending,
    in_range: point.inRange,
  }
}
