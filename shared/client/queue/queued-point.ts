/** Converts recorded points to queue entries, and determines their owner. */
import { type Failure, failure } from '../answer.ts'
import type { Client } from '../create-client.ts'
import type { Kind, PointFields, QueuedPoint } from './store.ts'

export type RecordedPoint = PointFields & {
  /** Epoch milliseconds, a Date, or ISO 8601 with a zone, of the years 1970 to 2999. Default: now. */
  readonly timestamp?: number | string | Date | null | undefined
}

/** The point to store, or why it cannot be stored: the device rejects at once what the service would reject. */
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

export const asSent = ({ t, fields }: QueuedPoint): PointFields & { timestamp: number } => ({
  ...fields,
  timestamp: t,
})

const encoder = new TextEncoder()
const bytesOf = (value: unknown): number => encoder.encode(JSON.stringify(value)).byteLength

/** The first points that fit into a body of `maxBytes`; at least one, because the service decides what is too large. */
export function fittingBatch(points: readonly QueuedPoint[], maxBytes: number): QueuedPoint[] {
  let bytes = bytesOf({ user_id: points[0]?.userId, points: [] })
  const fitting = points.findIndex((point) => (bytes += bytesOf(asSent(point)) + 1) > maxBytes)
  return points.slice(0, fitting === -1 ? points.length : Math.max(1, fitting))
}

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:Z|([+-])(\d\d)(?::?(\d\d))?)$/i
/** The service stores no later times. */
const END_MS = Date.UTC(3000, 0, 1)

/**
 * Whole epoch milliseconds of an ISO 8601 time with a zone, of epoch milliseconds, or of a Date.
 * @returns NaN for anything else: a time without a zone, a day alone, a date that does not exist, before 1970
 */
export function readTime(given: unknown): number {
  const ms =
    typeof given === 'string'
      ? readIso(given)
      : typeof given === 'number' || given instanceof Date
        ? Math.floor(Number(given))
        : NaN
  return ms >= 0 && ms < END_MS ? ms : NaN
}

function readIso(text: string): number {
  const found = ISO.exec(text)
  if (found === null) return NaN
  const part = (i: number): number => Number(found[i] ?? 0)
  const ms = Number((found[7] ?? '').padEnd(3, '0').slice(0, 3))
  const utc = Date.UTC(part(1), part(2) - 1, part(3), part(4), part(5), part(6), ms)
  // 30 February would become 2 March, and second 60 the next minute.
  const exists = new Date(utc).toISOString().startsWith(text.slice(0, 16).toUpperCase())
  if (!exists || part(9) > 23 || part(10) > 59) return NaN
  const offset = part(9) * 60 + part(10)
  return utc - (found[8] === '-' ? -offset : offset) * 60_000
}

/** The form of a user id that the service accepts. */
const USER_ID = /^(?!\.\.?$)[\w.:@-]{1,128}$/

/**
 * The pilgrim of `identity`, or why there is none: code `unauthorized`. Never rejects; if `identity` failed, the error
 * has its `cause`, and another attempt may succeed.
 */
export async function readOwner(
  client: Pick<Client, 'identity'>,
): Promise<{ readonly ok: true; readonly userId: string } | Failure> {
  try {
    const who = await client.identity()
    if (who === undefined) return failure('unauthorized', 'Nobody is signed in.')
    const { userId } = who
    if (typeof userId === 'string' && USER_ID.test(userId)) return { ok: true, userId }
    return failure(
      'unauthorized',
      `identity: userId ${JSON.stringify(userId)} must be 1 to 128 characters of A-Z a-z 0-9 _ . : @ - (and not "." or "..").`,
    )
  } catch (cause) {
    return failure('unauthorized', `Who is signed in cannot be read: ${(cause as Error).message}`, { cause })
  }
}

/** `ok`: durable on this device, and will be sent. */
export type Kept = { readonly ok: true } | Failure
