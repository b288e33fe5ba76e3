/** What the way is drawn on: coasts and borders, the route, the stations. All of it is on the device. */
import { computed, signal } from '@preact/signals'
import { language } from '../../frame/language.ts'
import { pageData } from '../../frame/page-data.ts'
import type { Atlas } from '../../map/atlas.ts'
import type { Ground } from '../../map/draw-ground.ts'
import { type Bounds, worldX, worldY } from '../../map/projection.ts'
import { type AtlasShapes, atlasShapes, routeShapes } from '../../map/shapes.ts'
import { route } from './own-way.ts'

const counties = signal<AtlasShapes | null>(null)
const towns = signal<AtlasShapes | null>(null)

async function loadAtlas(name: string, into: typeof counties): Promise<void> {
  const address = pageData().files[name]
  if (address === undefined || into.value !== null) return
  try {
    const answer = await fetch(address)
    if (answer.ok) into.value = atlasShapes((await answer.json()) as Atlas)
  } catch {
    // The first time without a network: the map shows route and way alone, and asks again when it is opened.
  }
}

/** Coasts and borders, where the event has them. The service worker keeps the files. */
export const loadGround = (): Promise<unknown> =>
  Promise.all([loadAtlas('counties', counties), loadAtlas('towns', towns)])

/** Whether the map shows anything whose source must be named. */
export const hasAtlas = computed(() => counties.value !== null)

const drawn = computed(() => (route.value === null ? null : routeShapes(route.value)))

export const ground = computed<Ground>(() => ({
  counties: counties.value,
  towns: towns.value,
  route: drawn.value,
  stations: (route.value?.stations ?? []).map(({ name, names, lat, lng, route_km: km }) => ({
    x: worldX(lng),
    y: worldY(lat),
    name: names[language.value] ?? name,
    km,
  })),
  mine: null,
  walkedKm: null,
  language: language.value,
}))

/** Taiwan. */
const LAND: Bounds = { west: worldX(119.9), north: worldY(25.4), east: worldX(122.1), south: worldY(21.85) }

/** What is shown of a day without a place. */
export const wholeRoute = (): Bounds => drawn.value?.bounds ?? LAND
