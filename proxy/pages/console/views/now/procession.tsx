/** Where the procession is, in words: front, middle and tail, and when they come to the next stations. */
import { figure } from '#shared/locales/units.ts'
import type { EventRoute } from '#shared/client/index.ts'
import { date, minute } from '../../clock.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import { route, stationName } from '../../map/ground.ts'
import { ProcessionRows } from '../../map/procession-places.tsx'
import type { Resource } from '../../resource.ts'
import { pair, words } from '../../words.ts'
import type { Overview } from './map-panel.tsx'

type EventMap = Overview
type Route = EventRoute

/** Shown at most; the nearest are first. */
const STATIONS = 5
/** Slower than this the procession rests. */
const RESTING_KMH = 0.5

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
  const speed = map.speed_kmh ?? null
  return (
    <>
      <ProcessionRows
        places={{ front: map.front ?? null, middle: map.middle ?? null, tail: map.tail ?? null }}
        absent={words.value.common.unknown}
      />
      <p class="row small">
        {speed === null ? null : <span>{speed < RESTING_KMH ? said.resting : `${figure(speed)} km/h`}</span>}
        {spread === null ? null : <span>{pair(said.spread, `${figure(spread)} km`)}</span>}
      </p>
      <Rule map={map} />
      <Estimates map={map} route={route} />
    </>
  )
}

/** Positions of walking people are younger: the crowd sends points that it had kept, or nobody walks. */
const OLD_MS = 2.5 * 3_600_000

/** How old the positions may be. */
function Rule({ map }: { readonly map: EventMap }) {
  const ageMs = Date.parse(map.as_of) - Date.parse(map.seen_since)
  return ageMs > OLD_MS ? (
    <p class="small warn-text">{pair(words.value.now.positionsOld, date(map.seen_since))}</p>
  ) : null
}

const stationAt = (found: Route | null, index: number | null): string | null => {
  const station = index === null ? undefined : found?.stations[index]
  return station === undefined ? null : stationName(station)
}

/** By the mean of the walk no minute is known. */
function Estimates({ map, route }: { readonly map: EventMap; readonly route: Route | null }) {
  const estimates = map.estimates.filter(({ by }) => by !== 'mean')
  return estimates.length === 0 ? null : (
    <>
      <h3>{words.value.now.estimates}</h3>
      <ul class="rows small">
        {estimates.slice(0, STATIONS).map(({ station, front_at, middle_at, by }) => (
          <li key={station}>
            <span class="grow">{stationAt(route, station) ?? station}</span>
            {front_at === null ? null : (
              <span>
                {words.value.now.front} {by === 'speed' ? '~' : ''}
                {minute(front_at)}
              </span>
            )}
            <span>
              {words.value.now.middle} {by === 'speed' ? '~' : ''}
              {minute(middle_at)}
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}
