/** The next stations with the times at which the pilgrim arrives at their own pace. */
import { words } from '../words.ts'
import { useEffect } from 'preact/hooks'
import { language } from '../../frame/language.ts'
import { distanceText, timeText } from '../format.ts'
import { now } from '../session/clock.ts'
import { consentWithdrawn } from '../session/service.ts'
import { aheadFailed, type Look, lookAhead, needsWay, readAhead } from '../way/look-ahead.ts'
import { readWay } from '../way/own-way.ts'
import type { NextStation } from '../way/stations.ts'
import { useReading } from './use-reading.ts'

interface LookProps {
  readonly look: Look
}

/** The next station alone, below the button. */
export function NextOfAll() {
  useReading(readAhead, aheadFailed)
  // The profile may say only now that there is a way.
  const needed = needsWay.value
  useEffect(() => void (needed && readWay()), [needed])
  const look = lookAhead()
  if (look === null) return null
  const next = look.ahead?.is === 'stations' ? look.ahead.next[0] : undefined
  if (next === undefined)
    return (
      <p class="next-station quiet">
        <Elsewhere look={look} />
      </p>
    )
  return (
    <section class="next-station">
      <p>
        {words.value.way.nextStation} <strong class="whole-name">{nameOf(next)}</strong>{' '}
        <span class="whole-name">{distanceTo(next)}</span>
      </p>
      {look.kmh === null ? <TimesLater look={look} /> : null}
      <Age look={look} />
    </section>
  )
}

export function Stations() {
  const look = lookAhead()
  if (look === null) return null
  const { ahead, kmh } = look
  return (
    <section class="card stack-2">
      <h2>{words.value.way.stations}</h2>
      {ahead?.is === 'stations' ? (
        <>
          <ul class="rows">
            {ahead.next.map((next) => (
              <li key={next.station.route_km} class="station">
                <strong>{nameOf(next)}</strong>
                <span>{distanceTo(next)}</span>
              </li>
            ))}
          </ul>
          {kmh === null ? <TimesLater look={look} /> : <p class="quiet">{words.value.way.estimate(kmh)}</p>}
          <Age look={look} />
        </>
      ) : (
        <p>
          <Elsewhere look={look} />
        </p>
      )}
    </section>
  )
}

/** When times are shown; nothing while nobody walks, as the consent is withdrawn. */
const TimesLater = ({ look }: LookProps) =>
  consentWithdrawn.value ? null : <p class="quiet">{words.value.way.estimateLater(look.paceInMinutes)}</p>

const nameOf = ({ station }: NextStation): string => station.names[language.value] ?? station.name

const distanceTo = ({ km, atMs }: NextStation): string =>
  atMs === null ? words.value.way.stationFar(km) : words.value.way.stationAt(km, timeText(atMs))

/** Why no station is shown. */
function Elsewhere({ look: { ahead } }: LookProps) {
  if (ahead?.is === 'end') return words.value.way.lastStation
  if (ahead?.is === 'off')
    return words.value.way.offRoute(distanceText(ahead.metres), words.value.way.directions[ahead.direction]!)
  return words.value.way.noPlace
}

/** An older place is told with its time. */
const OLD_MS = 10 * 60_000

const Age = ({ look: { placeMs } }: LookProps) =>
  placeMs === null || now() - placeMs < OLD_MS ? null : (
    <p class="quiet">{words.value.way.placeOf(timeText(placeMs))}</p>
  )
