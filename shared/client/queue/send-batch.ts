/** Sends the oldest points of a kind in one request, and settles those that the answer covers. */
import { type Answer, type ClientError, failure } from '../answer.ts'
import type { CallOptions, Client, Data } from '../create-client.ts'
import { asSent, fittingBatch } from './queued-point.ts'
import { AHEAD } from './retry-delays.ts'
import type { PointRejection } from '../api.ts'
import type { Kind, QueuedPoint, RejectedPoint } from './store.ts'

/** The result of one request. */
export interface Sent {
  readonly kind: Kind
  /** Points that the service stores durably; they are deleted. */
  readonly durable: readonly QueuedPoint[]
  /** Points that the service has refused for good; they are stored separately until the app dismisses them. */
  readonly rejected: readonly RejectedPoint[]
  /** Points in the future: a clock is wrong, and the service accepts them once their time has come. */
  readonly later: readonly QueuedPoint[]
  /** Null for a point rejected on its own. */
  readonly answer: Data<'checkIn'> | Data<'syncTrack'> | null
}

export interface Unsent {
  readonly error: ClientError
  readonly points: readonly QueuedPoint[]
}

type Sender = Pick<Client, 'checkIn' | 'syncTrack'>

/** Rejections after which the phone keeps the point. The service uses them only for points sent with a check-in. */
const KEPT = new Set(['too-many', 'no-room'])
const FUTURE = 'in-the-future'
/** A point further in the future by this device's clock has a wrong time; the device's clock may be two days slow. */
const MOST_AHEAD_MS = 2 * 86_400_000

/** Sends one check-in. After a success, duplicate or not, it may be deleted. */
export async function sendCheckIn(
  client: Sender,
  point: QueuedPoint,
  options: CallOptions,
): Promise<Sent | Unsent> {
  const answer = await client.checkIn({ ...asSent(point), user_id: point.userId }, options)
  if (!answer.ok) return { error: answer.error, points: [point] }
  return { kind: 'checkin', durable: [point], rejected: [], later: [], answer: answer.data }
}

/** Sends the first of these points that fit into one body. @param nowMs by the device's clock, epoch milliseconds */
export async function sendTrack(
  client: Sender,
  points: readonly QueuedPoint[],
  maxBytes: number,
  nowMs: number,
  options: CallOptions,
): Promise<Sent | Unsent> {
  const batch = fittingBatch(points, maxBytes)
  const answer = covering(
    batch,
    nowMs,
    await client.syncTrack({ user_id: batch[0]!.userId, points: batch.map(asSent) }, options),
  )
  return answer.ok ? answer.data : { error: answer.error, points: batch }
}

/** The points of a batch that its answer covers: up to `durable_through`, and the rejected indexes; nothing else. */
function covering(
  batch: readonly QueuedPoint[],
  nowMs: number,
  answer: Answer<Data<'syncTrack'>>,
): Answer<Sent> {
  if (!answer.ok) return answer
  const { rejected: refused, durable_through: through } = answer.data
  const throughMs = through === null ? -Infinity : Date.parse(through)
  const reasons = new Map(refused.map(({ index, reason }) => [index, reason]))
  const isLater = (point: QueuedPoint, index: number) =>
    reasons.get(index) === FUTURE && point.t <= nowMs + MOST_AHEAD_MS
  const rejected = batch.flatMap((point, index): RejectedPoint[] => {
    const reason = reasons.get(index)
    if (reason === undefined || KEPT.has(reason) || isLater(point, index)) return []
    return [{ ...point, reason, message: sentenceOf(reason) }]
  })
  const durable = batch.filter((point, index) => !reasons.has(index) && point.t <= throughMs)
  const later = batch.filter(isLater)
  if (durable.length + rejected.length + later.length === 0)
    return failure('unexpected', 'The service took and refused nothing.', {
      status: answer.status,
    })
  return { ...answer, data: { kind: batch[0]!.kind, durable, rejected, later, answer: answer.data } }
}

/** Messages for rejections that the device does not detect itself. */
const SENTENCES: Readonly<Partial<Record<PointRejection, string>>> = {
  [FUTURE]: AHEAD,
  'too-old': 'The point is too old.',
  'invalid-field': 'A field of the point is wrong.',
}

const sentenceOf = (reason: PointRejection): string =>
  SENTENCES[reason] ?? `The service does not take the point (${reason}).`
