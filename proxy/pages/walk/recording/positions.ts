/** The phone's positions, as the filter takes them. */
import type { Fix } from './position-filter.ts'

/** Why there is no position; or it is too rough, or the device has no room for it. */
export type PositionFault = 'permission' | 'no-signal' | 'slow' | 'rough' | 'storage'

/** Satellites have a clock of their own: a larger difference says that the device's is wrong, and not that a fix is old. */
const MAX_AGE_MS = 30_000

/** A position with its time by the service's clock: now, less the age that the device tells. */
export function fixOf({ coords, timestamp }: GeolocationPosition, nowMs: number): Fix {
  const ageMs = Date.now() - timestamp
  const { latitude, longitude, accuracy, altitude, speed } = coords
  return {
    t: Math.round(nowMs - (ageMs > 0 && ageMs <= MAX_AGE_MS ? ageMs : 0)),
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

export const OPTIONS: PositionOptions = { enableHighAccuracy: true, maximumAge: 0, timeout: 20_000 }

/** One position, for a check-in or at rest. @returns a fault instead when there is none */
export const onePosition = (
  nowOf: () => number,
  options: PositionOptions = OPTIONS,
): Promise<Fix | PositionFault> =>
  new Promise((resolve) => {
    if (!('geolocation' in navigator)) return resolve('no-signal')
    navigator.geolocation.getCurrentPosition(
      (position) => resolve(fixOf(position, nowOf())),
      (error) => resolve(faultOf(error)),
      options,
    )
  })
