/** The next stations with the times at which the pilgrim arrives at their own pace. */
import type { WalkWords } from '#shared/locales/words.ts'
import { language } from '../../frame/language.ts'
import { distanceText, timeText } from '../format.ts'
import { now } from '../session/clock.ts'
import { consentWithdrawn } from '../session/service.ts'
import { aheadFailed, type Look, lookAhead, readAhead } from '../way/look-ahead.ts'
import type { NextStation } from '../way/stations.ts'
import { useReading } from './use-reading.ts'

interface Props {
  readonly words: WalkWords
}
interface LookProps extends Props {
  readonly look: Look
}

/** The next station alone, below the button. */
export function NextOfAll({ words }: Props) {
  useReading(readAhead, aheadFailed)
  const look = lookAhead()
  if (look === null) return null
  const next = look.ahead?.is === 'stations' ? look.ahead.next[0] : undefined
  if (next === undefined)
    return (
      <p class="next-station quiet">
        <Elsewhere words={words} look={look} />
      </p>
    )
  return (
    <section class="next-station">
      <p>
        {words.way.nextStation} <strong class="whole-name">{nameOf(next)}</strong>{' '}
        <span class="whole-name">{distanceTo(words, next)}</span>
      </p>
      {look.kmh === null ? <TimesLater words={words} look={look} /> : null}
      <Age words={words} look={look} />
    </section>
  )
}

export function Stations({ words, words: { way } }: Props) {
  const look = lookAhead()
  if (look === null) return null
  const { ahead, kmh } = look
  return (
    <section class="card stack-2">
      <h2>{way.stations}</h2>
      {ahead?.is === 'stations' ? (
        <>
          <ul class="rows">
            {ahead.next.map((next) => (
              <li key={next.station.route_km} class="station">
                <strong>{nameOf(next)}</strong>
                <span>{distanceTo(words, next)}</span>
              </li>
            ))}
          </ul>
          {kmh === null ? (
            <TimesLater words={words} look={look} />
          ) : (
            <p class="quiet">{way.estimate(Math.round(kmh * 10) / 10)}</p>
          )}
          <Age words={words} look={look} />
        </>
      ) : (
        <p>
          <Elsewhere words={words} look={look} />
        </p>
      )}
    </section>
  )
}

/** When times are shown; nothing while nobody walks, as the consent is withdrawn. */
const TimesLater = ({ words, look }: LookProps) =>
  consentWithdrawn.value ? null : <p class="quiet">{words.way.estimateLater(look.paceInMinutes)}</p>

const nameOf = ({ station }: NextStation): string => station.names[language.value] ?? station.name

const distanceTo = ({ way }: WalkWords, { km, atMs }: NextStation): string =>
  atMs === null ? way.stationFar(km) : way.stationAt(km, timeText(atMs))

/** Why no station is shown. */
function Elsewhere({ words: { way }, look: { ahead } }: LookProps) {
  if (ahead?.is === 'end') return way.lastStation
  if (ahead?.is === 'off') return way.offRoute(distanceText(ahead.metres), way.directions[ahead.direction]!)
  return way.noPlace
}

/** An older place is told with its time. */
const OLD_MS = 10 * 60_000

const Age = ({ words, look: { placeMs } }: LookProps) =>
  placeMs === null || now() - placeMs < OLD_MS ? null : (
    <p class="quiet">{words.way.placeOf(timeText(placeMs))}</p>
  )
