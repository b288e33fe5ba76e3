/** Handles a check-in: it is validated, admitted by one atomic call, and durable before it is answered. */
import type { z } from 'zod'
import { acceptCheckIn, type AcceptRules, latestPosition } from '#shared/buffer/validate/validate-points.ts'
import type { Buffer } from '#shared/buffer/buffer.ts'
import { fieldOf, pack, type Point, unpack } from '#shared/buffer/point.ts'
import type { Window } from '#shared/config/config.ts'
import { time } from '#shared/contracts/fields.ts'
import type { CheckInAnswer } from '#shared/contracts/tracking.ts'
import type { CheckInRequest } from '#shared/contracts/gps-points.ts'
import { refusalOfVerdict } from '#shared/buffer/admit/verdict-to-refusal.ts'
import { countRejected } from '#shared/buffer/sync-track.ts'
import { submissionId } from '#shared/buffer/admit/submission-id.ts'
import type { Verdict } from '#shared/kv/kv.ts'
import type { Count } from '#shared/ledger/process-counters.ts'
import { acceptAttached, attachedAnswer, type AttachedTrack, withoutPoints } from './track-of-check-in.ts'

export interface CheckInRules extends AcceptRules {
  /** Counts the attached points that are rejected. */
  readonly count: Count
  readonly limit: Window
}

const hasTime = ({ timestamp }: CheckInRequest): boolean => timestamp !== undefined && timestamp !== null

/** Without a client timestamp, the same position within the duplicate window is the same check-in. */
const duplicateKey = (request: CheckInRequest, point: Point): string =>
  hasTime(request) ? `t${point.sentMs}` : `p${point.lat},${point.lng}`

type Answer = z.infer<typeof CheckInAnswer>

/**
 * Accepts a check-in, and the track points that came with it.
 * @throws Refusal 400, 403 paused or ended, 429, 503
 */
export async function checkIn(
  buffer: Pick<Buffer, 'admitCheckIn'>,
  request: CheckInRequest,
  receivedMs: number,
  rules: CheckInRules,
): Promise<Answer> {
  const point = acceptCheckIn(request, receivedMs, rules)
  const given = request.track_points ?? null
  const attached = given === null ? null : acceptAttached(given, receivedMs, rules)
  const submission = {
    id: submissionId(),
    userId: request.user_id,
    kind: 'checkin',
    duplicateKey: duplicateKey(request, point),
    recordedMs: point.recordedMs,
  } as const
  const admit = (points: readonly Point[]) =>
    buffer.admitCheckIn({
      ...submission,
      entries: [pack(point), ...points.map(pack)],
      position: latestPosition([point, ...points]),
    })
  let accepted = attached
  let verdict = await admit(attached?.points ?? [])
  if (verdict.outcome === 'full' && attached !== null && attached.points.length > 0) {
    // The check-in alone may still fit.
    accepted = withoutPoints(attached)
    verdict = await admit([])
  }
  countRejected(rules.count, attached?.rejected ?? [])
  if (verdict.outcome !== 'admitted') throw refusalOfVerdict(verdict, 'checkin', rules.limit)
  return answerOf(request, point, verdict, accepted)
}

function answerOf(
  request: CheckInRequest,
  point: Point,
  verdict: Extract<Verdict, { outcome: 'admitted' }>,
  attached: AttachedTrack | null,
): Answer {
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
    clock_corrected: hasTime(request) && recordedMs < point.sentMs,
    ...(attached === null
      ? {}
      : { track: attachedAnswer(attached, verdict.duplicates - (verdict.duplicate ? 1 : 0)) }),
  }
}
