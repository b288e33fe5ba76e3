/** From what an app records to what the queue keeps. */
import { type Failure, failure } from '../answer.ts'
import type { Kind, PointFields, QueuedPoint } from './store.ts'

/** A point as an app records it. */
export type RecordedPoint = PointFields & {
  /** When: epoch milliseconds, a Date, or ISO 8601 with a zone. Now, if absent. */
  readonly timestamp?: number | string | Date | null | undefined
}

const LAST_MS = 8.64e15

/** The point that the queue keeps, or why it cannot keep it. */
export function queuedPoint(
  userId: string,
  kind: Kind,
  { timestamp, ...fields }: RecordedPoint,
  nowMs: number,
): QueuedPoint | Failure {
  const given = timestamp ?? nowMs
  const ms = typeof given === 'string' ? Date.parse(given) : Number(given)
  if (Number.isFinite(ms) && Math.abs(ms) <= LAST_MS) return { userId, kind, t: Math.trunc(ms), fields }
  return failure(
    'invalid-request',
    `timestamp: ${String(given)} is no time; give epoch milliseconds, a Date, or ISO 8601 with a zone.`,
  )
}

/** The point as the service takes it. */
export const asSent = ({ t, fields }: QueuedPoint): PointFields & { timestamp: number } => ({
  ...fields,
  timestamp: t,
})

const encoder = new TextEncoder()
const bytesOf = (value: unknown): number => encoder.encode(JSON.stringify(value)).byteLength

/** The first points that fit into a body of `maxBytes`; at least one, because the service says what is too large. */
export function fittingBatch(points: readonly QueuedPoint[], maxBytes: number): QueuedPoint[] {
  let bytes = bytesOf({ user_id: points[0]?.userId, points: [] })
  const fitting = points.findIndex((point) => (bytes += bytesOf(asSent(point)) + 1) > maxBytes)
  return points.slice(0, fitting === -1 ? points.length : Math.max(1, fitting))
}
