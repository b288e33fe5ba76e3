/** The optional position in a report: where it was written, even if it is sent later. */
import { signal } from '@preact/signals'
import {
  onePosition,
  OPTIONS,
  type Place,
  placeOf,
  type PositionFault,
  RECENT_MS,
} from '../recording/positions.ts'
import { positionPermission } from '../session/answering.ts'
import type { ReportedPlace } from '../session/senders.ts'
import { keep, valueOfWalk } from '../session/stored-signals.ts'
import { profile } from '../session/service.ts'

/** Position at which the current text was written. */
export const place = valueOfWalk<Place | null>(null, 'walk-feedback-place')
export const wantsPlace = signal(false)
export const placeFault = signal<PositionFault | null>(null)

/**
 * Begins a report. The position is included by default if the pilgrim has consented and the phone already
 * grants the permission: opening a page never triggers a permission prompt.
 * @param isBegun there is already a text, so a stored position belongs to it
 */
export async function beginPlace(isBegun: boolean): Promise<void> {
  placeFault.value = null
  wantsPlace.value = isBegun && place.value !== null
  if (wantsPlace.value) return
  keep(place, null)
  const status = await positionPermission()
  if (status?.state === 'granted' && (profile.value?.privacy_agreed ?? true)) await wantPlace(true)
}

/** Search for a position that a report waits for. */
let searching: Promise<Place | null> = Promise.resolve(null)

/** The checkbox was changed. Ticking it looks for the current position. */
export async function wantPlace(wants: boolean): Promise<void> {
  wantsPlace.value = wants
  placeFault.value = null
  keep(place, null)
  const started = (searching = wants ? search() : Promise.resolve(null))
  await started

  async function search(): Promise<Place | null> {
    const found = await onePosition({ ...OPTIONS, maximumAge: RECENT_MS })
    const isFound = typeof found !== 'string'
    const here = isFound ? placeOf(found) : null
    // The box may have been cleared, or the report sent, meanwhile.
    if (searching !== started) return here
    keep(place, here)
    if (!isFound) placeFault.value = found
    return here
  }
}

/**
 * Returns the position for a report, if it is wanted. `later`: the result of a search still in progress, null
 * if it takes too long.
 */
export function takePlace(): { readonly now: ReportedPlace; readonly later: Promise<ReportedPlace> | null } {
  const [wanted, here, pending] = [wantsPlace.value, place.value, searching]
  wantsPlace.value = false
  keep(place, null)
  searching = Promise.resolve(null)
  const later = wanted && here === null ? Promise.race([pending, tooLong()]).then(reported) : null
  return { now: reported(wanted ? here : null), later }
}

/** A hidden page gets no position, and the phone may stop it: send the report without one. */
const tooLong = (): Promise<null> =>
  new Promise((resolve) => {
    setTimeout(resolve, OPTIONS.timeout, null)
    document.addEventListener('visibilitychange', () => resolve(null), { once: true })
  })

function reported(here: Place | null): ReportedPlace {
  if (here === null) return {}
  const { t, ...rest } = here
  return { device_info: { place: { ...rest, at: new Date(t).toISOString() } } }
}
