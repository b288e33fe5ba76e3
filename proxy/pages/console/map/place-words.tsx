/** Describes a place on the route: at a station, or between two. */
import type { EventRoute } from '#shared/client/index.ts'
import { createRoute } from '#shared/core/map/walking-route.ts'
import { unpackLines } from '#shared/core/rules/along-route.ts'
import { figure } from '#shared/locales/units.ts'
import { computed } from '@preact/signals'
import { route, stationName } from './ground.ts'
import { words } from '../words.ts'
import { type Mark, MarkSymbol } from '../../design/marks.tsx'

export interface PlaceOnRoute {
  readonly lat: number
  readonly lng: number
  /** Kilometres from the start of the route; null without a route. */
  readonly route_km: number | null
  /** The route passes here twice, so the kilometre is uncertain; the stations are the same. */
  readonly unsure?: boolean
}

/** A place closer to a station than this, along the route, is at it. */
const AT_KM = 1

/** `between Tongxiao and Yuanli`; null without stations. */
function betweenStations(km: number, route: EventRoute | null): string | null {
  const stations = route?.stations ?? []
  const messages = words.value.now
  const nearest = stations.toSorted((a, b) => Math.abs(a.route_km - km) - Math.abs(b.route_km - km))[0]
  if (nearest === undefined) return null
  if (Math.abs(nearest.route_km - km) <= AT_KM) return messages.station(stationName(nearest))
  const before = stations.findLast(({ route_km }) => route_km <= km)
  const after = stations.find(({ route_km }) => route_km > km)
  if (before === undefined) return messages.beforeStation(stationName(nearest))
  if (after === undefined) return messages.afterStation(stationName(nearest))
  return messages.betweenStations(stationName(before), stationName(after))
}

/** The stations around a place, or its coordinates if no station is known. */
export function placeName({ lat, lng, route_km }: PlaceOnRoute, route: EventRoute | null): string {
  const name = route_km === null ? null : betweenStations(route_km, route)
  return name ?? `${lat.toFixed(4)}, ${lng.toFixed(4)}`
}

const line = computed(() => (route.value === null ? null : createRoute(unpackLines(route.value.lines))))

/** Places farther away are not on the route. */
const OFF_ROUTE_M = 2_000
/** Width of a road plus the error of a phone. */
const EXACT_M = 50
/** Stretches of the route farther apart than this are outbound and return. */
const ONE_STRETCH_KM = 1

/** Position on the route of a place for which the service returns only coordinates. */
export function placeOf(lat: number, lng: number): PlaceOnRoute {
  // The lines are simplified, so they are slightly shorter than the route.
  const stretch = line.value === null ? 0 : route.value!.km / line.value.lengthM
  const kms =
    line.value?.passes({ lat, lng }, OFF_ROUTE_M, EXACT_M).map(({ alongM }) => alongM * stretch) ?? []
  const [first = null] = kms
  const isSure = first !== null && kms.at(-1)! - first < ONE_STRETCH_KM
  return { lat, lng, route_km: first, ...(isSure ? {} : { unsure: true }) }
}

/** `km 45.3`; null without a route, and if outbound or return is uncertain. */
export const kmOnRoute = ({ route_km, unsure = false }: PlaceOnRoute): string | null =>
  route_km === null || unsure ? null : words.value.now.routeKm(figure(route_km))

// Front, middle and tail as text, with their signs and kilometres: now, or in a selected hour.

export const PROCESSION = ['front', 'middle', 'tail'] as const satisfies readonly Mark[]

export type ProcessionPlaces = Readonly<Record<(typeof PROCESSION)[number], PlaceOnRoute | null>>

/** A place as text, the same in tables, in pictures and on their maps. */
export const placeWords = (place: PlaceOnRoute): { readonly name: string; readonly km: string | null } => ({
  name: placeName(place, route.value),
  km: kmOnRoute(place),
})

/**
 * Front and tail exclude a twentieth of the pilgrims at each end; the map shows them.
 * @param absent text for a missing place, for example while loading
 */
export const ProcessionRows = ({
  places,
  absent,
}: {
  readonly places: ProcessionPlaces | null
  readonly absent: string
}) => (
  <>
    <ul class="rows procession-rows">
      {PROCESSION.map((name) => {
        const place = places?.[name] ?? null
        const text = place === null ? null : placeWords(place)
        return (
          <li key={name}>
            <MarkSymbol mark={name} />
            <strong>{words.value.now[name]}</strong>
            <span class="grow">{text?.name ?? absent}</span>
            <span class="number">{text?.km}</span>
          </li>
        )
      })}
    </ul>
    <p class="small quiet">{words.value.now.outliers}</p>
  </>
)
