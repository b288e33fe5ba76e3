/** Notifies the reader when the procession comes to their station: on the page, and as a notification if allowed. */
import { effect, signal } from '@preact/signals'
import { words } from './words.ts'
import { remember, remembered } from '../frame/storage.ts'
import { showToast } from '../design/toast.tsx'
import { stationName } from './format.ts'
import { hasReached } from './stations-around.ts'
import { followed, freshness, leader, myStation, news, nowMs, route } from './state.ts'

const SOON_MINUTES = 20

/** The reader wants notifications. */
export const wanted = signal(remembered('tell') === 'yes')

/** The reader has chosen a station and wants notifications. */
export const waits = (): boolean => wanted.value && myStation.value !== null

/** Asks for permission, and enables notifications. @returns whether the browser allows them */
export async function wantToBeTold(): Promise<boolean> {
  wanted.value = true
  remember('tell', 'yes')
  return 'Notification' in globalThis && (await Notification.requestPermission()) === 'granted'
}

export function tellNoMore(): void {
  wanted.value = false
  remember('tell', null)
}

/**
 * The last notified state of the reader's station, so that each is notified once: `<station> waits`, `soon` or
 * `arrived`.
 */
let announced = remembered('told') ?? ''

/** Starts watching the news. */
export function watchMyStation(): void {
  effect(() => {
    const index = myStation.value
    const map = news.value
    const station = index === null ? undefined : route.value?.stations[index]
    // An outdated answer does not describe the present.
    if (
      !wanted.value ||
      index === null ||
      station === undefined ||
      map === null ||
      freshness.value !== 'fresh'
    )
      return
    const frontKm = (leader.value ?? map.front)?.route_km ?? null
    if (map.status !== 'active' || frontKm === null) return
    const name = stationName(station)
    const isKnown = announced.startsWith(`${index} `)
    if (hasReached(frontKm, station)) {
      // If the front had already passed a station when it was chosen, that is no news.
      if (isKnown) tell(`${index} arrived`, words.value.arrived(name))
      else note(`${index} arrived`)
      return
    }
    if (!isKnown) note(`${index} waits`)
    // Only an estimate by the current speed is precise enough for minutes.
    const estimate = map.estimates.find((each) => each.station === index && each.by === 'speed')
    const at = (leader.value === null ? estimate?.front_at : estimate?.middle_at) ?? null
    const minutes = at === null ? Infinity : Math.round((Date.parse(at) - nowMs.value) / 60_000)
    if (minutes <= SOON_MINUTES)
      tell(`${index} soon`, words.value.soon(followed.value, name, Math.max(1, minutes)))
  })
}

function note(key: string): void {
  announced = key
  remember('told', key)
}

function tell(key: string, text: string): void {
  if (announced === key) return
  note(key)
  showToast(text)
  if ('Notification' in globalThis && Notification.permission === 'granted') void notify(text)
}

/** Phones show a notification only through a service worker. */
async function notify(text: string): Promise<void> {
  try {
    const worker = await navigator.serviceWorker?.getRegistration()
    if (worker === undefined) new Notification(text)
    else await worker.showNotification(text, { tag: 'station' })
  } catch {
    // A phone without a service worker shows none; the page has already shown it.
  }
}
