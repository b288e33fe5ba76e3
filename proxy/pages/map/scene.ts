/** The scene of the map, derived from the state of the page. */
import { computed, signal } from '@preact/signals'
import { language } from '../frame/language.ts'
import { detailed } from './detailed-map.ts'
import type { Ground } from './draw-ground.ts'
import type { Scene } from './painter.ts'
import { LAND, placedStations } from './ground.ts'
import type { OverNames } from './labels.ts'
import { type Bounds, boundsOf, worldX, worldY } from './projection.ts'
import { type AtlasShapes, crowdOf, routeShapes } from './shapes.ts'
import { freshness, leader, myStation, news, route, standing } from './state.ts'

export const counties = signal<AtlasShapes | null>(null)
export const towns = signal<AtlasShapes | null>(null)

const routeDrawn = computed(() => (route.value === null ? null : routeShapes(route.value)))
const stations = computed(() => placedStations(route.value, language.value))
/**
 * Distance walked by the middle, at most as old as the crowd: a part of the route that is only presumed walked is not
 * marked.
 */
const walkedKm = computed(() => (isAlive.value ? (news.value?.middle?.route_km ?? null) : null))

/** The default view; null: the reader has moved the map. */
export const shown = signal<'procession' | 'route' | null>('procession')

/** Drawn over the crowd: places along the way, once their script has loaded. */
export const over = signal<Scene['over']>(undefined)

/** Places of marks and their names. */
export const marks = signal<readonly OverNames[]>([])

export const ground = computed<Ground>(() => ({
  counties: counties.value,
  towns: towns.value,
  route: routeDrawn.value,
  stations: stations.value,
  mine: myStation.value,
  walkedKm: walkedKm.value,
  language: language.value,
  detailed: detailed.value === 'on',
  numbered: true,
  marks: marks.value,
}))

/** Whether the event is running, and the news are recent enough to show a crowd and marks. */
export const isAlive = computed(
  () => standing.value !== 'ended' && (freshness.value === 'fresh' || freshness.value === 'old'),
)
const cells = computed(() => news.value?.cells ?? null)
export const crowd = computed(() =>
  isAlive.value && cells.value !== null ? crowdOf(cells.value, true) : null,
)

/** Bounds of the procession; null if nobody is on the map. */
export function processionBounds(): Bounds | null {
  if (!isAlive.value) return null
  const map = news.value
  const marks = [leader.value, map?.front, map?.middle, map?.tail].flatMap((place) => (place ? [place] : []))
  if (marks.length > 0) return boundsOf(marks.map(({ lat, lng }) => [worldX(lng), worldY(lat)] as const))
  return boundsOf((map?.cells ?? []).map(([lat, lng]) => [worldX(lng / 1e5), worldY(lat / 1e5)] as const))
}

export const routeBounds = (): Bounds | null => routeDrawn.value?.bounds ?? null

/** The view before any data: the land, or the world. */
export const landBounds = (): Bounds =>
  counties.value === null ? { west: 0.05, north: 0.2, east: 0.95, south: 0.75 } : LAND
