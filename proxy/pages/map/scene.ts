/** The pictures of the map, made from what the page knows. */
import { computed, signal } from '@preact/signals'
import { language } from '../frame/language.ts'
import { detailed } from './detailed-map.ts'
import type { Ground } from './draw-ground.ts'
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
 * How far the middle has walked, not older than the crowd: a part of the way that is only thought to be walked is not
 * marked.
 */
const walkedKm = computed(() => (isAlive.value ? (news.value?.middle?.route_km ?? null) : null))

/** What the map shows by itself; null: what the reader has moved it to. */
export const shown = signal<'procession' | 'route' | null>('procession')

/** Where marks and their names stand. */
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

/** Whether the event goes on, and the news are young enough to show a crowd and marks. */
export const isAlive = computed(
  () => standing.value !== 'ended' && (freshness.value === 'fresh' || freshness.value === 'old'),
)
const cells = computed(() => news.value?.cells ?? null)
export const crowd = computed(() =>
  isAlive.value && cells.value !== null ? crowdOf(cells.value, true) : null,
)

/** Where the procession is; null where nobody is on the map. */
export function processionBounds(): Bounds | null {
  if (!isAlive.value) return null
  const map = news.value
  const marks = [leader.value, map?.front, map?.middle, map?.tail].flatMap((place) => (place ? [place] : []))
  if (marks.length > 0) return boundsOf(marks.map(({ lat, lng }) => [worldX(lng), worldY(lat)] as const))
  return boundsOf((map?.cells ?? []).map(([lat, lng]) => [worldX(lng / 1e5), worldY(lat / 1e5)] as const))
}

export const routeBounds = (): Bounds | null => routeDrawn.value?.bounds ?? null

/** What is shown before anything is known: the land, or the world. */
export const landBounds = (): Bounds =>
  counties.value === null ? { west: 0.05, north: 0.2, east: 0.95, south: 0.75 } : LAND
