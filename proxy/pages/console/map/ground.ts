/** The base layer of the console's maps: coasts and borders, the route and its stations. */
import { computed, effect, signal } from '@preact/signals'
import type { EventRoute } from '#shared/client/index.ts'
import { pageData } from '../../frame/page-data.ts'
import type { Ground } from '../../map/draw-ground.ts'
import { loadAtlas, placedStations } from '../../map/ground.ts'
import { type Bounds, worldX, worldY } from '../../map/projection.ts'
import { type AtlasShapes, routeShapes } from '../../map/shapes.ts'
import { event } from '../event.ts'
import { client } from '../session.ts'
import { consoleLanguage } from '../words.ts'
import { pageWords } from '../../frame/language.ts'

const counties = signal<AtlasShapes | null>(null)
export const route = signal<EventRoute | null>(null)
let asked = false

/** Reads the route, and reads it again when an owner replaces it. */
effect(() => {
  const version = event.value?.route ?? null
  if (asked && version !== (route.peek()?.version ?? null)) void readRoute(version)
})

/** Loads the base layer once. Without it a map shows only the crowd. */
export async function loadGround(): Promise<void> {
  if (!asked) void loadAtlas(pageData().files['counties'], (shapes) => (counties.value = shapes))
  asked = true
  if (route.value === null) await readRoute(event.value?.route ?? null)
}

async function readRoute(version: string | null): Promise<void> {
  const found = await client.readRoute(version === null ? {} : { v: version })
  if (found.ok) route.value = found.data.version === null ? null : found.data
}

const drawn = computed(() => (route.value === null ? null : routeShapes(route.value)))

export const stationName = ({ name, names }: EventRoute['stations'][number]): string =>
  names[consoleLanguage.value] ?? name

/** The base layer without the route. */
export const ground = computed<Ground>(() => ({
  counties: counties.value,
  towns: null,
  route: drawn.value,
  stations: placedStations(route.value, consoleLanguage.value),
  mine: null,
  walkedKm: null,
  language: consoleLanguage.value,
}))

/** Area of the atlas: Taiwan with its islands. */
const ATLAS: Bounds = { west: worldX(118), north: worldY(26.5), east: worldX(122.2), south: worldY(21.7) }

/** Whether the atlas covers this place. An owner may have set a route elsewhere. */
const isOnAtlas = (atlas: AtlasShapes | null, place: Bounds | null): boolean =>
  atlas !== null &&
  (place === null ||
    (place.west < ATLAS.east &&
      place.east > ATLAS.west &&
      place.north < ATLAS.south &&
      place.south > ATLAS.north))

/** Attribution of the base layer at a place; null if the atlas does not cover it. */
export const sourceOf = (place: Bounds | null): string | null =>
  isOnAtlas(counties.value, place) ? pageWords.value.mapSource : null

export const mapSource = computed(() => sourceOf(drawn.value?.bounds ?? null))
