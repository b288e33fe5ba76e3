/** The place that a report carries, if the pilgrim likes: where it was written, also when it is sent later. */
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

/** A place belongs to the words that were written there. */
export const place = valueOfWalk<Place | null>(null, 'walk-feedback-place')
export const wantsPlace = signal(false)
export const placeFault = signal<PositionFault | null>(null)

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
  const status = await positionPermission()
  if (status?.state === 'granted' && (profile.value?.privacy_agreed ?? true)) await wantPlace(true)
}

/** The search that a report waits for. */
let searching: Promise<Place | null> = Promise.resolve(null)

/** The box is ticked or not. Ticking it looks for the place; what is found is of now. */
export async function wantPlace(wants: boolean): Promise<void> {
  wantsPlace.value = wants
  placeFault.value = null
  keep(place, null)
  const mine = (searching = wants ? search() : Promise.resolve(null))
  await mine

  async function search(): Promise<Place | null> {
    const found = await onePosition({ ...OPTIONS, maximumAge: RECENT_MS })
    const isFound = typeof found !== 'string'
    const here = isFound ? placeOf(found) : null
    // Meanwhile the box may have been cleared, or the report taken.
    if (searching !== mine) return here
    keep(place, here)
    if (!isFound) placeFault.value = found
    return here
  }
}

/** Takes the place for a report, if it is wanted. `later`: that of a search that goes on, null when it takes too long. */
export function takePlace(): { readonly now: ReportedPlace; readonly later: Promise<ReportedPlace> | null } {
  const [wanted, here, mine] = [wantsPlace.value, place.value, searching]
  wantsPlace.value = false
  keep(place, null)
  searching = Promise.resolve(null)
  const later = wanted && here === null ? Promise.race([mine, tooLong()]).then(reported) : null
  return { now: reported(wanted ? here : null), later }
}

/** A page out of sight gets no position, and the phone may stop it: whoever puts it away has sent the report. */
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
