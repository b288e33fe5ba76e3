/** Where the procession is, in words: front, middle and tail, and when they come to the next stations. */
import type { EventRoute } from '#shared/client/index.ts'
import { MarkSymbol } from '../../../design/marks.tsx'
import { minute, oneDigit } from '../../clock.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import { route, stationName } from '../../map/ground.ts'
import type { Resource } from '../../resource.ts'
import { fill, words } from '../../words.ts'
import type { Overview } from './event-map.ts'

type EventMap = Overview
type Route = EventRoute
type Place = NonNullable<EventMap['front']>

/** Shown at most; the nearest are first. */
const STATIONS = 5

export const Procession = ({ map }: { readonly map: Resource<EventMap> }) => (
  <PanelFrom title={words.value.now.places} kind="procession" from={map}>
    {(value) =>
      value.front == null ? (
        <p class="quiet">{words.value.now.nobody}</p>
      ) : (
        <Places map={value} route={route.value} />
      )
    }
  </PanelFrom>
)

function Places({ map, route }: { readonly map: EventMap; readonly route: Route | null }) {
  const said = words.value.now
  const spread =
    map.front?.route_km != null && map.tail?.route_km != null ? map.front.route_km - map.tail.route_km : null
  return (
    <>
      <ul class="rows">
        {(['front', 'middle', 'tail'] as const).map((name) => (
          <li key={name}>
            <MarkSymbol mark={name} />
            <strong>{said[name]}</strong>
            <span class="grow">{placeText(map[name] ?? null, route)}</span>
          </li>
        ))}
      </ul>
      <p class="row small">
        {map.speed_kmh == null ? null : (
          <span>
            {said.speed}: {oneDigit(map.speed_kmh)} km/h
          </span>
        )}
        {spread === null ? null : (
          <span>
            {said.spread}: {oneDigit(spread)} km
          </span>
        )}
      </p>
      <Estimates map={map} route={route} />
    </>
  )
}

const stationAt = (found: Route | null, index: number | null): string | null => {
  const station = index === null ? undefined : found?.stations[index]
  return station === undefined ? null : stationName(station)
}

function placeText(place: Place | null, route: Route | null): string {
  if (place === null) return words.value.common.unknown
  const name = stationAt(route, place.station)
  const parts = [
    name === null ? null : fill(words.value.now.station, { name }),
    place.route_km === null ? null : fill(words.value.now.routeKm, { km: oneDigit(place.route_km) }),
  ].filter((part) => part !== null)
  return parts.length > 0 ? parts.join(' · ') : `${place.lat.toFixed(4)}, ${place.lng.toFixed(4)}`
}

const Estimates = ({ map, route }: { readonly map: EventMap; readonly route: Route | null }) =>
  map.estimates.length === 0 ? null : (
    <>
      <h3>{words.value.now.estimates}</h3>
      <ul class="rows small">
        {map.estimates.slice(0, STATIONS).map(({ station, front_at, middle_at }) => (
          <li key={station}>
            <span class="grow">{stationAt(route, station) ?? station}</span>
            {front_at === null ? null : (
              <span>
                {words.value.now.front} {minute(front_at)}
              </span>
            )}
            <span>
              {words.value.now.middle} {minute(middle_at)}
            </span>
          </li>
        ))}
      </ul>
    </>
  )
