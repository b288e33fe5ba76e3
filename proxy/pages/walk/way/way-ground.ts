/** What the way is drawn on: coasts and borders, the route, the stations. All of it is on the device. */
import { computed, signal } from '@preact/signals'
import { language } from '../../frame/language.ts'
import { pageData } from '../../frame/page-data.ts'
import type { Ground } from '../../map/draw-ground.ts'
import { LAND, loadAtlas, placedStations } from '../../map/ground.ts'
import type { Bounds } from '../../map/projection.ts'
import { type AtlasShapes, routeShapes } from '../../map/shapes.ts'
import { route } from './own-way.ts'

const counties = signal<AtlasShapes | null>(null)
const towns = signal<AtlasShapes | null>(null)

/** Coasts and borders, once. The service worker keeps the files. */
export function loadGround(): void {
  const { files } = pageData()
  if (counties.value === null) void loadAtlas(files['counties'], (shapes) => (counties.value = shapes))
  if (towns.value === null) void loadAtlas(files['towns'], (shapes) => (towns.value = shapes))
}

/** Whether the map shows anything whose source must be named. */
export const hasAtlas = computed(() => counties.value !== null)

const drawn = computed(() => (route.value === null ? null : routeShapes(route.value)))

export const ground = computed<Ground>(() => ({
  counties: counties.value,
  towns: towns.value,
  route: drawn.value,
  stations: placedStations(route.value, language.value),
  mine: null,
  walkedKm: null,
  language: language.value,
}))

/** What is shown of a day without a place. */
export const wholeRoute = (): Bounds => drawn.value?.bounds ?? LAND
