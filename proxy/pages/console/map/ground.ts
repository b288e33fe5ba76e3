/** The ground of the console's maps: coasts and borders, the route and its stations. */
import { computed, signal } from '@preact/signals'
import type { EventRoute } from '#shared/client/index.ts'
import { pageData } from '../../frame/page-data.ts'
import type { Atlas } from '../../map/atlas.ts'
import type { Ground } from '../../map/draw-ground.ts'
import { worldX, worldY } from '../../map/projection.ts'
import { type AtlasShapes, atlasShapes, routeShapes } from '../../map/shapes.ts'
import { client } from '../session.ts'
import { consoleLanguage } from '../words.ts'

const counties = signal<AtlasShapes | null>(null)
export const route = signal<EventRoute | null>(null)
let asked = false

/** Loads what a map stands on, once. Without it a map shows the crowd alone. */
export async function loadGround(): Promise<void> {
  if (asked) return
  asked = true
  const address = pageData().files['counties']
  try {
    const [atlas, found] = await Promise.all([
      address === undefined ? null : fetch(address),
      client.readRoute({}),
    ])
    if (atlas?.ok) counties.value = atlasShapes((await atlas.json()) as Atlas)
    if (found.ok && found.data.version !== null) route.value = found.data
  } catch {
    // Without a network: the next map asks again.
    asked = false
  }
}

const drawn = computed(() => (route.value === null ? null : routeShapes(route.value)))

export const stationName = ({ name, names }: EventRoute['stations'][number]): string =>
  names[consoleLanguage.value] ?? name

/** The ground without what is walked. */
export const ground = computed<Ground>(() => ({
  counties: counties.value,
  towns: null,
  route: drawn.value,
  stations: (route.value?.stations ?? []).map((station) => ({
    x: worldX(station.lng),
    y: worldY(station.lat),
    name: stationName(station),
    km: station.route_km,
  })),
  mine: null,
  walkedKm: null,
  language: consoleLanguage.value,
}))

export const mapSource = computed(() => counties.value?.source ?? null)
