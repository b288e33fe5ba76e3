/** Handles a check-in: it is validated, admitted by one atomic call, and durable before the answer. */
import type { z } from 'zod'
import type { Window } from '#shared/runtime/config/config.ts'
import { MAX_POINTS, time } from '#shared/contracts/fields.ts'
import type { AttachedAnswer, CheckInAnswer } from '#shared/contracts/tracking.ts'
import { type CheckInRequest, MAX_ATTACHED } from '#shared/contracts/gps-points.ts'
import type { Verdict } from '#shared/stores/kv/kv.ts'
import { acceptCheckIn, type AcceptRules, acceptTrack, latestPosition } from './accept.ts'
import { countRejected, durableThrough, refusalOfVerdict, submissionId } from './admission.ts'
import type { Buffer } from './buffer.ts'
import type { Count } from './ledger/counters.ts'
import { fieldOf, pack, type Point, unpack } from './point.ts'

type Rejected = Readonly<AttachedAnswer['rejected']>

interface AttachedTrack {
  /** Number of entries the client sent. */
  readonly size: number
  readonly points: readonly Point[]
  readonly rejected: Rejected
  /** Time of the earliest point that the phone must send again; infinity if there is none. */
  readonly resendFromMs: number
}

/** @param given the unvalidated value of `track_points` */
function acceptAttached(
  given: unknown,
  receivedMs: number,
  rules: AcceptRules,
  fullDays: ReadonlySet<string> | undefined,
): AttachedTrack {
  const list: readonly unknown[] = Array.isArray(given) ? given : []
  const { points, rejected } = acceptTrack(list.slice(0, MAX_ATTACHED), receivedMs, rules, fullDays)
  const whole = { size: list.length, points, resendFromMs: Infinity }
  if (!Array.isArray(given)) return { ...whole, rejected: [{ index: 0, reason: 'not-a-list' }] }
  // More than a phone records for one request. Entries are not reported one by one: the answer would be longer than the
  // body.
  if (list.length > MAX_POINTS)
    return { ...whole, points: [], rejected: [{ index: 0, reason: 'too-many' }], resendFromMs: -Infinity }
  if (list.length <= MAX_ATTACHED) return { ...whole, rejected }
  const rest = acceptTrack(list.slice(MAX_ATTACHED), receivedMs, rules, fullDays)
  const faults = new Map(rest.rejected.map(({ index, reason }) => [index, reason]))
  const more: Rejected = list
    .slice(MAX_ATTACHED)
    .map((_, i) => ({ index: MAX_ATTACHED + i, reason: faults.get(i) ?? 'too-many' }))
  return { ...whole, rejected: [...rejected, ...more], resendFromMs: earliestMs(rest.points) }
}

const attachedAnswer = (
  { points, rejected, resendFromMs }: AttachedTrack,
  duplicates: number,
): AttachedAnswer => ({
  accepted: points.length - duplicates,
  duplicates,
  rejected: [...rejected],
  // The phone deletes its points up to this time, so every point to send again must be later.
  durable_through: durableThrough(points.filter(({ sentMs }) => sentMs < resendFromMs)),
})

/** The same track with every point rejected, because the pilgrim's buffer is full. */
function withoutPoints({ size, rejected }: AttachedTrack): AttachedTrack {
  const faults = new Map(rejected.map(({ index, reason }) => [index, reason]))
  const all: Rejected = Array.from({ length: size }, (_, index) => ({
    index,
    reason: faults.get(index) ?? 'no-room',
  }))
  return { size, points: [], rejected: all, resendFromMs: -Infinity }
}

const earliestMs = (points: readonly Point[]): number =>
  points.reduce((earliest, { sentMs }) => Math.min(earliest, sentMs), Infinity)

interface CheckInRules extends AcceptRules {
  readonly count: Count
  readonly limit: Window
}

const hasTime = ({ timestamp }: CheckInRequest): boolean => timestamp !== undefined && timestamp !== null

/** Without a client timestamp, the same position within the duplicate window is the same check-in. */
const duplicateKey = (request: CheckInRequest, point: Point): string =>
  hasTime(request) ? `t${point.sentMs}` : `p${point.lat},${point.lng}`

type Answer = z.infer<typeof CheckInAnswer>

/**
 * Accepts a check-in and its attached track points.
 * @throws Refusal 400, 403 paused or ended, 429, 503
 */
export async function checkIn(
  buffer: Pick<Buffer, 'admitDurably'>,
  request: CheckInRequest,
  receivedMs: number,
  rules: CheckInRules,
): Promise<Answer> {
  const point = acceptCheckIn(request, receivedMs, rules)
  const given = request.track_points ?? null
  const fullDays = rules.fullDaysOf?.(request.user_id)
  const attached = given === null ? null : acceptAttached(given, receivedMs, rules, fullDays)
  const submission = {
    id: submissionId(),
    userId: request.user_id,
    kind: 'checkin',
    duplicateKey: duplicateKey(request, point),
    recordedMs: point.recordedMs,
  } as const
  const admit = (points: readonly Point[]) =>
    buffer.admitDurably({
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
