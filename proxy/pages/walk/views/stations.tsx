/** The next stations with the times at which the pilgrim arrives at their own pace. */
import type { WalkWords } from '#shared/locales/walk-words.ts'
import { language } from '../../frame/language.ts'
import { timeText } from '../format.ts'
import { lastFix } from '../recording/recorder.ts'
import { now } from '../session/service.ts'
import { lastPlaces, route } from '../way/own-way.ts'
import { kmOnRoute, linesOf, nextStations, paceOf } from '../way/stations.ts'

/** A place of yesterday says nothing about today. */
const RECENT_MS = 12 * 3_600_000

export function Stations({ words: { way } }: { readonly words: WalkWords }) {
  const line = lastPlaces.value.map(({ t, lat, lng }) => ({ t: Date.parse(t), lat, lng }))
  const here = lastFix.value ?? line.at(-1)
  const given = route.value
  if (here === undefined || given === null || given.stations.length === 0 || now() - here.t > RECENT_MS)
    return null
  const lines = linesOf(given.lines)
  const hereKm = kmOnRoute(lines, line, here)
  if (hereKm === null) return null
  const kmh = paceOf(line)
  const stations = given.stations.map(({ name, names, lat, lng, route_km: routeKm }) => ({
    name: names[language.value] ?? name,
    lat,
    lng,
    routeKm,
  }))
  const next = nextStations(stations, hereKm, kmh, now())
  if (next.length === 0) return null
  return (
    <section class="card stack-2">
      <h2>{way.stations}</h2>
      <ul class="rows">
        {next.map(({ name, km, atMs }) => (
          <li key={name} class="station">
            <strong class="grow">{name}</strong>
            <span>{atMs === null ? way.stationFar(km) : way.stationAt(km, timeText(atMs))}</span>
          </li>
        ))}
      </ul>
      {kmh === null ? null : <p class="quiet">{way.estimate(Math.round(kmh * 10) / 10)}</p>}
    </section>
  )
}
