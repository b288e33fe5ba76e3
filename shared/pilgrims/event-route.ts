/** The event's route and area: from the owner's settings, or else from the files of the environment. */
import type { Language } from '#shared/contracts/bot.ts'
import type { RoutePart } from '#shared/contracts/event-settings.ts'
import type { EventRoute, MapPlaceAlong } from '#shared/contracts/map.ts'
import { createRoute, type Route, shownRoute, type Station } from '#shared/core/map/walking-route.ts'
import { unpackLines } from '#shared/core/rules/along-route.ts'
import { nameIn } from '#shared/core/rules/languages.ts'
import { roundKm } from '#shared/core/rules/rounding.ts'
import type { InArea } from '#shared/runtime/config/setting-values.ts'

/** A route with its stations in walking order. */
export interface StationedRoute {
  readonly route: Route | null
  readonly stations: readonly Station[]
  /** Places along the way; none by default. */
  readonly places?: readonly PlaceAlong[]
}

export type PlaceAlong = MapPlaceAlong

const built = new WeakMap<RoutePart, Route>()

/** @throws RangeError for lines without length */
export const routeOfPart = (part: RoutePart): Route | null =>
  part.lines.length === 0 ? null : built.getOrInsertComputed(part, () => createRoute(unpackLines(part.lines)))

/** @param language the event's own; its station names also serve readers of languages without one */
export function stationsOfPart(part: RoutePart, language: Language): readonly Station[] {
  const route = routeOfPart(part)
  if (route === null) return []
  return part.stations
    .map(({ lat, lng, names, km, planned_at: planned }) => ({
      lat,
      lng,
      name: nameIn(names, language, language),
      names: names as Station['names'],
      alongM: km === null ? route.project({ lat, lng }).alongM : Math.min(km * 1_000, route.lengthM),
      ...(planned === null ? {} : { plannedMs: Date.parse(planned) }),
    }))
    .sort((a, b) => a.alongM - b.alongM)
}

/** Places along the way, in walking order. @param language as for stations */
export function placesOn(
  route: Route | null,
  { places }: Pick<RoutePart, 'places'>,
  language: Language,
): readonly PlaceAlong[] {
  if (route === null) return []
  return places
    .map(({ names, ...place }) => ({
      ...place,
      name: Object.keys(names).length === 0 ? null : nameIn(names, language, language),
      names,
      route_km: roundKm(route.project(place).alongM * 1_000),
    }))
    .sort((a, b) => a.route_km - b.route_km)
}

export const areaAround =
  (route: Route, marginKm: number): InArea =>
  (lat, lng) =>
    route.project({ lat, lng }).offM <= marginKm * 1_000

const shown = new WeakMap<readonly Station[], EventRoute>()

export function shownRouteOf({ route, stations, places = [] }: StationedRoute): EventRoute {
  if (route === null) return { version: null, km: 0, lines: [], stations: [] }
  return shown.getOrInsertComputed(stations, () => {
    const content = {
      ...shownRoute(route),
      stations: stations.map(({ name, names, lat, lng, alongM }) => ({
        name,
        names: { ...names },
        lat,
        lng,
        route_km: roundKm(alongM * 1_000),
      })),
      // A route without places keeps its version.
      ...(places.length === 0 ? {} : { places: [...places] }),
    }
    return { version: Bun.hash(JSON.stringify(content)).toString(36), ...content }
  })
}

/** Changes whenever the answer of `GET route` changes; null without a route. */
export const routeVersion = (given: StationedRoute): string | null => shownRouteOf(given).version
