/** The state of the page: the last news of the event, their age, the route, and the reader's choices. */
import { computed, signal } from '@preact/signals'
import type { EventMap, EventMapDelta, EventRoute, MapCellEntry } from '#shared/client/index.ts'
import { leads } from '#shared/core/rules/palanquin.ts'
import type { MapWords } from '#shared/locales/words.ts'
import { language, pageWords } from '../frame/language.ts'
import { pageData } from '../frame/page-data.ts'
import { remember, remembered } from '../frame/storage.ts'

/** Age at which news are marked as old, and age at which the crowd is hidden. */
const OLD_MS = 3 * 60_000
export const GONE_MS = 30 * 60_000

export const data = pageData()
const options = new URLSearchParams(location.search)
/** A large display without controls. */
export const isScreen = options.has('screen')

export const news = signal<EventMap | null>(null)
export const route = signal<EventRoute | null>(null)
/** Whether the last request was answered. */
export const connected = signal(true)
/** The service's clock, in milliseconds; it ticks without answers. */
export const nowMs = signal(Date.now())

/** Lead of the service's clock over the reader's. */
let aheadMs = 0

/** Sets the service's time from an answer. @param serviceMs when the answer was sent */
export function setClock(serviceMs: number): void {
  aheadMs = serviceMs - Date.now()
  tick()
}

export function tick(): void {
  nowMs.value = Date.now() + aheadMs
}

export const ageMs = computed(() =>
  news.value === null ? Infinity : Math.max(0, nowMs.value - Date.parse(news.value.as_of)),
)
/** Only fresh news are shown as current. */
export const freshness = computed<'none' | 'fresh' | 'old' | 'gone'>(() => {
  if (news.value === null) return 'none'
  if (ageMs.value >= GONE_MS) return 'gone'
  return ageMs.value >= OLD_MS ? 'old' : 'fresh'
})

/** The palanquin that marks, times and displays follow; null: the crowd leads. */
export const leader = computed(() => {
  const { palanquin, as_of } = news.value ?? { palanquin: null, as_of: '' }
  return palanquin !== null && leads(Date.parse(palanquin.seen_at), Date.parse(as_of)) ? palanquin : null
})
/** When the palanquin was last seen, if it no longer leads. */
export const silentSince = computed(() =>
  leader.value === null ? (news.value?.palanquin?.seen_at ?? null) : null,
)

/** The event's status; `awaited` before it begins and before it is set up, `unknown` before the first answer. */
export const standing = computed<keyof MapWords['standing']>(() => {
  if (news.value === null) return 'unknown'
  const { status, event } = news.value
  const startsMs = event.settings_version ? Date.parse(event.starts_at ?? '') : Infinity
  return status === 'active' && nowMs.value < startsMs ? 'awaited' : status
})

export const eventName = computed(
  () => news.value?.event.names[language.value] ?? news.value?.event.name ?? data.name,
)
/** Names within a sentence of the event's procession and of the device that leads it. */
const kind = computed(() => news.value?.event.followed ?? 'procession')
export const isRelay = computed(() => kind.value === 'relay')
export const followed = computed(() => pageWords.value.followed[kind.value])
export const leaderName = computed(() => pageWords.value.leader[kind.value])
export const timeZone = computed(() => news.value?.event.time_zone ?? data.timeZone)

/** The reader's station: its index, or null. It is stored by name and place on the route. */
const chosen = signal(remembered('station'))
const keyOf = ({ name, route_km }: EventRoute['stations'][number]): string => `${name} ${route_km}`
export const myStation = computed<number | null>(() => {
  const index = route.value?.stations.findIndex((station) => keyOf(station) === chosen.value) ?? -1
  return index < 0 ? null : index
})
export function chooseStation(index: number | null): void {
  const station = index === null ? undefined : route.value?.stations[index]
  chosen.value = station === undefined ? null : keyOf(station)
  remember('station', chosen.value)
}

/** The browser is locating the reader. */
export const isFindingMe = signal(false)
/** The reader's position, which stays on the device. */
export const me = signal<{ readonly lat: number; readonly lng: number } | null>(null)

const cellKey = ([lat, lng, zoom]: MapCellEntry): string => `${lat} ${lng} ${zoom}`

/** The whole map after applying a delta. */
export function merged(map: EventMap, delta: EventMapDelta): EventMap {
  const { cells: changed, ...state } = delta
  let { cells } = map
  if (changed !== undefined) {
    const byKey = new Map(cells.map((cell) => [cellKey(cell), cell]))
    for (const cell of changed)
      if (cell[3] === 0) byKey.delete(cellKey(cell))
      else byKey.set(cellKey(cell), cell)
    cells = [...byKey.values()]
  }
  return { ...map, ...state, since: null, cells }
}
