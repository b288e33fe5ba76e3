/** From what an app records to what the queue keeps. */
import { type Failure, failure } from '../answer.ts'
import { readTime } from './read-time.ts'
import type { Kind, PointFields, QueuedPoint } from './store.ts'

/** A point as an app records it. */
export type RecordedPoint = PointFields & {
  /** When: epoch milliseconds, a Date, or ISO 8601 with a zone, of the years 1970 to 2999. Now, if absent. */
  readonly timestamp?: number | string | Date | null | undefined
}

/** The point that the queue keeps, or why it cannot keep it: what the service would refuse, the device refuses at once. */
export function queuedPoint(
  userId: string,
  kind: Kind,
  { timestamp, ...fields }: RecordedPoint,
  nowMs: number,
): QueuedPoint | Failure {
  const t = readTime(timestamp ?? nowMs)
  const wrong = wrongTime(timestamp, t) ?? wrongDegrees(fields, 'lat', 90) ?? wrongDegrees(fields, 'lng', 180)
  return wrong === undefined ? { userId, kind, t, fields } : failure('invalid-request', wrong)
}

function wrongTime(given: RecordedPoint['timestamp'], t: number): string | undefined {
  if (Number.isNaN(t))
    return `timestamp: ${String(given)} is no time; give epoch milliseconds, a Date, or ISO 8601 with a zone.`
  // As milliseconds they would be in early 1970.
  return t >= 1e9 && t < 1e10 ? `timestamp: ${t} looks like seconds; give milliseconds.` : undefined
}

function wrongDegrees(fields: PointFields, name: 'lat' | 'lng', most: number): string | undefined {
  const given: unknown = fields[name]
  if (typeof given === 'number' && Math.abs(given) <= most) return undefined
  return `${name}: ${String(given)} is no place on Earth; give degrees from -${most} to ${most}.`
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
