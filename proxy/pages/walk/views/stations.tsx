/** The next stations with the pilgrim's arrival times at their own pace, from stored data. */
import { words } from '../words.ts'
import { useEffect } from 'preact/hooks'
import { language } from '../../frame/language.ts'
import { distanceText, timeText } from '../format.ts'
import { now } from '../session/clock.ts'
import { profile } from '../session/service.ts'
import { lastPlaces, readRoute, readWay, route } from '../way/own-way.ts'
import { type Ahead, aheadOf, minutesToPace, type NextStation, paceOf } from '../way/stations.ts'
import { useReading } from './use-service.tsx'
import { computed } from '@preact/signals'
import { lastFix, ownTrail } from '../recording/recorder.ts'
import { consentWithdrawn, person } from '../session/current-state.ts'
import { openDays } from '../way/kept-days.ts'

/** An older position says nothing about where the pilgrim is now. */
const RECENT_MS = 12 * 3_600_000
/** The watch reports a position each second; the list changes more slowly. */
const FIX_EVERY_MS = 15_000

interface Look {
  /** Own pace in km/h; null: not known yet. */
  readonly kmh: number | null
  readonly paceInMinutes: number
  /** Time of the last position, in epoch milliseconds; null: no recent position. */
  readonly placeMs: number | null
  /** Null without a position. */
  readonly ahead: Ahead | null
}

/** The way so far: as counted by the service, then as recorded by this device. */
const walked = computed(() => {
  const counted = lastPlaces.value.map(({ t, lat, lng }) => ({ t: Date.parse(t), lat, lng }))
  const countedMs = counted.at(-1)?.t ?? -Infinity
  return [...counted, ...ownTrail().filter(({ t }) => t > countedMs)]
})

let heldFix: typeof lastFix.value = null
const fixNow = computed(() => {
  const fix = lastFix.value
  if (fix === null || heldFix === null || Math.abs(fix.t - heldFix.t) >= FIX_EVERY_MS) heldFix = fix
  return heldFix
})

const isRecent = (t: number | undefined): boolean => t !== undefined && now() - t <= RECENT_MS

/** The way so far and its newest position; null: no recent position. */
export function whereabouts() {
  const places = walked.value
  // A check-in, or another app's point, may be newer than this page's recording.
  const here = [places.at(-1), fixNow.value].flatMap((place) => place ?? []).toSorted((a, b) => b.t - a.t)[0]
  return here === undefined || !isRecent(here.t) ? null : { walked: places, here }
}

/** @returns null if the event has no stations, or this device has not read them yet */
function lookAhead(): Look | null {
  const given = route.value
  if (given === null || given.stations.length === 0) return null
  const where = whereabouts()
  if (where === null) return { kmh: null, paceInMinutes: minutesToPace([]), placeMs: null, ahead: null }
  const { walked: places, here } = where
  // The service may have only the last minutes of this device's recording.
  const kmh = paceOf(places) ?? paceOf(ownTrail())
  const paceInMinutes = Math.min(minutesToPace(places), minutesToPace(ownTrail()))
  return { kmh, paceInMinutes, placeMs: here.t, ahead: aheadOf(given, { walked: places, here, kmh }, now()) }
}

/** The pace comes from another phone or app: read the way, so that every view shows the same times. */
const needsWay = computed(() => (profile.value?.km ?? 0) > 0 && paceOf(ownTrail()) === null)

/** Reads the route, and the own way if this device cannot compute the pace alone. */
async function readAhead(): Promise<void> {
  await openDays(person.value?.userId ?? '')
  await readRoute()
  if (needsWay.value) await readWay()
}

const aheadFailed = (): boolean => route.peek() === null

interface LookProps {
  readonly look: Look
}

/** Only the next station, below the button. */
export function NextOfAll() {
  useReading(readAhead, aheadFailed)
  // The profile may arrive later and show that there is a way.
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
      <Age placeMs={look.placeMs} />
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
          <Age placeMs={look.placeMs} />
        </>
      ) : (
        <p>
          <Elsewhere look={look} />
        </p>
      )}
    </section>
  )
}

/** When times will be shown; nothing while the consent is withdrawn. */
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

/** An older position is shown with its time. */
const OLD_MS = 10 * 60_000

/** @param placeMs as of {@link Look} */
export const Age = ({ placeMs }: Pick<Look, 'placeMs'>) =>
  placeMs === null || now() - placeMs < OLD_MS ? null : (
    <p class="quiet">{words.value.way.placeOf(timeText(placeMs))}</p>
  )
