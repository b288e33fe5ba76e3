/** The last hours of the way as this device recorded them: in a dead zone the service does not know them yet. */
import { CLOCK_TOLERANCE_MS } from '../session/clock-rules.ts'

export interface TrailPlace {
  /** Epoch milliseconds. */
  readonly t: number
  readonly lat: number
  readonly lng: number
}
export interface Trail {
  /** Whose trail it is: another pilgrim may go on with this device. */
  readonly userId: string
  /** In the order of time. */
  readonly places: readonly TrailPlace[]
}

/** A little more than the time of which the pace is. */
const KEPT_MS = 4 * 3_600_000
/** Of a walk no more is needed, and the device writes less. */
const EVERY_MS = 60_000

/** The trail after a place. A clock that was set back begins a new one. */
export function trailAfter(trail: Trail, userId: string, { t, lat, lng }: TrailPlace): Trail {
  const last = trail.userId === userId ? trail.places.at(-1) : undefined
  if (last === undefined || last.t - t > CLOCK_TOLERANCE_MS) return { userId, places: [{ t, lat, lng }] }
  if (t - last.t < EVERY_MS) return trail
  return { userId, places: [...trail.places.filter((one) => t - one.t <= KEPT_MS), { t, lat, lng }] }
}
