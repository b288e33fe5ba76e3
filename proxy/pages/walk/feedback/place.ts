/** The place that a report carries, if the pilgrim likes: where it was written, also when it is sent later. */
import { signal } from '@preact/signals'
import { onePosition, OPTIONS, type PositionFault } from '../recording/positions.ts'
import { keep, kept } from '../session/stored-signals.ts'
import { profile } from '../session/service.ts'

interface Place {
  readonly lat: number
  readonly lng: number
  /** Metres. */
  readonly accuracy: number
  /** Epoch milliseconds by the service's clock. */
  readonly t: number
}

/** A place belongs to the words that were written there. */
export const place = kept<Place | null>('walk-feedback-place', null)
export const wantsPlace = signal(false)
export const placeFault = signal<PositionFault | null>(null)

/** A position of so long ago is still of here, ms. */
const RECENT_MS = 120_000

/**
 * Begins a report. The place is sent unless the pilgrim says no, where the consent is given and the phone allows the
 * position already: nobody is asked for a permission by opening a page.
 * @param isBegun words are there already, so a kept place is theirs
 */
export async function beginPlace(isBegun: boolean): Promise<void> {
  placeFault.value = null
  wantsPlace.value = isBegun && place.value !== null
  if (wantsPlace.value) return
  keep(place, null)
  const status = await navigator.permissions?.query({ name: 'geolocation' }).catch(() => null)
  if (status?.state === 'granted' && (profile.value?.privacy_agreed ?? true)) await wantPlace(true)
}

/** The search that a report waits for. */
let searching = Promise.resolve()

/** The box is ticked or not. Ticking it looks for the place; what is found is of now. */
export function wantPlace(wants: boolean): Promise<void> {
  wantsPlace.value = wants
  placeFault.value = null
  keep(place, null)
  if (wants) searching = search()
  return searching
}

async function search(): Promise<void> {
  const found = await onePosition({ ...OPTIONS, maximumAge: RECENT_MS })
  // Meanwhile the box may have been cleared.
  if (!wantsPlace.value) return
  if (typeof found === 'string') {
    // The box says what is sent.
    placeFault.value = found
    wantsPlace.value = false
  } else keep(place, { lat: found.lat, lng: found.lng, accuracy: found.accuracy, t: found.t })
}

/** What a report says of the place, for operators alone. */
export interface ReportedPlace {
  readonly device_info?: { readonly place: Omit<Place, 't'> & { readonly at: string } }
}

/** The place for a report, if it is wanted. Waits for a search that goes on. */
export async function placeInfo(): Promise<ReportedPlace> {
  await searching
  const here = wantsPlace.value ? place.value : null
  if (here === null) return {}
  const { t, ...rest } = here
  return { device_info: { place: { ...rest, at: new Date(t).toISOString() } } }
}
