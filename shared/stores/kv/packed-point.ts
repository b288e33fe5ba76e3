/**
 * What the kv reads of a packed point (`points/point.ts` packs it): the place and the times of a check-in, and the
 * generation that the kv adds. `admit-points.lua` reads the same.
 */
import type { Entry } from './kv.ts'

/** Place and times of a check-in, epoch milliseconds. */
export interface CheckInPosition {
  readonly sentMs: number
  readonly recordedMs: number
  readonly receivedMs: number
  readonly lat: number
  readonly lng: number
}

const STANDING = /\[(-?\d+),(\d+),([^,]+),([^,]+),/

/** Reads place and times of a packed check-in; null for any other value. */
export function checkInPositionOf({ field, value }: Entry): CheckInPosition | null {
  const [offset, receivedMs, lat, lng] = (STANDING.exec(value)?.slice(1) ?? []).map(Number)
  if (lng === undefined) return null
  const sentMs = Number(field.slice(1))
  return { sentMs, recordedMs: sentMs + offset!, receivedMs: receivedMs!, lat: lat!, lng }
}

/** Whether a check-in came without a timestamp, so that it counts at its receipt or at the next free instant. */
const standsAtReceipt = ({ sentMs, recordedMs, receivedMs }: CheckInPosition): boolean =>
  recordedMs === sentMs && receivedMs <= sentMs

/**
 * Whether two check-ins of one pilgrim share an instant by accident: they are at different places, and one of them
 * came without a timestamp. The later one gets the next free instant.
 */
export const sharesInstantByAccident = (one: CheckInPosition, other: CheckInPosition): boolean =>
  (standsAtReceipt(one) || standsAtReceipt(other)) && (one.lat !== other.lat || one.lng !== other.lng)

/** Splits a value of the buffer into the pilgrim's generation at that time and the packed point. */
export function readStamp(stamped: string): { readonly generation: number; readonly value: string } {
  const stamp = /^(\d+)~/.exec(stamped)
  if (stamp === null) return { generation: 0, value: stamped }
  return { generation: Number(stamp[1]), value: stamped.slice(stamp[0].length) }
}
