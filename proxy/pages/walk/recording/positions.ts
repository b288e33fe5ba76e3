/** The phone's positions in the form that the filter expects. */
import { clockAheadMs, clockIsWrong, now } from '../session/clock.ts'
import { ageOfPosition, CLOCK_TOLERANCE_MS, type Stamp } from '../session/clock-rules.ts'
import { askPosition, NO_ANSWER, type NoAnswer } from '../session/answering.ts'
import type { Fix } from './position-filter.ts'

/** Why there is no usable position: missing, too rough, or not storable. */
export type PositionFault = 'permission' | 'no-signal' | 'slow' | 'rough' | 'storage' | NoAnswer

/** The last position that looked old. */
let doubted: Stamp | null = null

/** A position with its time by the service's clock; null if it is a cached old one. */
export function fixOf({ coords, timestamp }: GeolocationPosition): Fix | null {
  const at = now()
  const stamp = { timestamp, ageMs: Date.now() - timestamp }
  const aheadMs = clockIsWrong.value ? clockAheadMs.value : 0
  const ageMs = ageOfPosition(stamp, aheadMs, doubted)
  if (stamp.ageMs > CLOCK_TOLERANCE_MS) doubted = stamp
  if (ageMs === null) return null
  const { latitude, longitude, accuracy, altitude, speed } = coords
  return {
    t: Math.round(at - ageMs),
    lat: latitude,
    lng: longitude,
    accuracy: Math.round(accuracy),
    altitude: altitude === null ? null : Math.round(altitude),
    // m/s
    speed: speed === null || Number.isNaN(speed) ? null : Math.round(speed * 36) / 10,
  }
}

export const faultOf = ({ code }: GeolocationPositionError): PositionFault =>
  code === 1 ? 'permission' : code === 3 ? 'slow' : 'no-signal'

/** The phone's position as sent with an SOS or a report. */
export type Place = Pick<Fix, 'lat' | 'lng' | 'accuracy' | 't'>
export const placeOf = ({ lat, lng, accuracy, t }: Place): Place => ({ lat, lng, accuracy, t })
/** Maximum age of a position that counts as current, ms. */
export const RECENT_MS = 120_000

export const OPTIONS = { enableHighAccuracy: true, maximumAge: 0, timeout: 20_000 }

/** Restarts the position watch of this window; null: none is running. */
let renewWatch: (() => void) | null = null

/** Registers how to restart the watch of this window. @returns a function to call when the watch has ended */
export function watching(renew: () => void): () => void {
  renewWatch = renew
  return () => {
    if (renewWatch === renew) renewWatch = null
  }
}

async function ask(options: typeof OPTIONS): Promise<GeolocationPosition | PositionFault> {
  if (!('geolocation' in navigator)) return 'no-signal'
  // While a watch runs, a browser may answer only with its next position, which a phone at rest never
  // gets.
  renewWatch?.()
  const answer = await askPosition(options)
  return answer === NO_ANSWER || 'coords' in answer ? answer : faultOf(answer)
}

/** One position, for a check-in or at rest. @returns a fault if there is none */
export async function onePosition(options = OPTIONS): Promise<Fix | PositionFault> {
  // A phone may return a cached position first and find the current one afterwards.
  for (let attempt = 0; attempt < 3; attempt++) {
    const found = await ask(attempt === 0 ? options : OPTIONS)
    if (typeof found === 'string') return found
    const fix = fixOf(found)
    if (fix !== null) return fix
  }
  return 'slow'
}
