/** The next stations with the times at which the pilgrim arrives at their own pace. */
import type { WalkWords } from '#shared/locales/walk-words.ts'
import { language } from '../../frame/language.ts'
import { timeText } from '../format.ts'
import { lastFix } from '../recording/recorder.ts'
import { now } from '../session/service.ts'
import { lastPlaces, route } from '../way/own-way.ts'
import { nextStations, paceOf } from '../way/stations.ts'

/** A place of yesterday says nothing about today. */
const RECENT_MS = 12 * 3_600_000

export function Stations({ words: { way } }: { readonly words: WalkWords }) {
  const walked = lastPlaces.value.map(({ t, lat, lng }) => ({ t: Date.parse(t), lat, lng }))
  // A check-in, or another app's point, may be newer than what this page has recorded.
  const here = [walked.at(-1), lastFix.value].flatMap((one) => one ?? []).toSorted((a, b) => b.t - a.t)[0]
  const given = route.value
  if (here === undefined || given === null || now() - here.t > RECENT_MS) return null
  const kmh = paceOf(walked)
  const next = nextStations(given, { walked, here, kmh }, now())
  if (next.length === 0) return null
  return (
    <section class="card stack-2">
      <h2>{way.stations}</h2>
      <ul class="rows">
        {next.map(({ station, km, atMs }) => (
          <li key={station.route_km} class="station">
            <strong class="grow">{station.names[language.value] ?? station.name}</strong>
            <span>{atMs === null ? way.stationFar(km) : way.stationAt(km, timeText(atMs))}</span>
          </li>
        ))}
      </ul>
      <p class="quiet">{way.alongRoute}</p>
      <p class="quiet">{kmh === null ? way.estimateLater : way.estimate(Math.round(kmh * 10) / 10)}</p>
    </section>
  )
}
