/** The next stations with the times at which the pilgrim arrives at their own pace, from what this device knows. */
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

/** A place of yesterday says nothing about today. */
const RECENT_MS = 12 * 3_600_000
/** The watch gives a position each second; what lies ahead does not change so fast. */
const FIX_EVERY_MS = 15_000

interface Look {
  /** Own pace in km/h; null: not known yet. */
  readonly kmh: number | null
  readonly paceInMinutes: number
  /** When the pilgrim was there, in epoch milliseconds; null: nobody knows where they are. */
  readonly placeMs: number | null
  /** Null without a place. */
  readonly ahead: Ahead | null
}

/** The way so far, as the service has counted it, and then as this device has recorded it. */
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

/** The way so far and the newest place of it; null: nobody knows where the pilgrim is now. */
export function whereabouts() {
  const places = walked.value
  // A check-in, or another app's point, may be newer than what this page has recorded.
  const here = [places.at(-1), fixNow.value].flatMap((one) => one ?? []).toSorted((a, b) => b.t - a.t)[0]
  return here === undefined || !isRecent(here.t) ? null : { walked: places, here }
}

/** @returns null: the event has no stations, or this device has not read them yet */
function lookAhead(): Look | null {
  const given = route.value
  if (given === null || given.stations.length === 0) return null
  const where = whereabouts()
  if (where === null) return { kmh: null, paceInMinutes: minutesToPace([]), placeMs: null, ahead: null }
  const { walked: places, here } = where
  // The service may know only the last minutes of what this device has recorded.
  const kmh = paceOf(places) ?? paceOf(ownTrail())
  const paceInMinutes = Math.min(minutesToPace(places), minutesToPace(ownTrail()))
  return { kmh, paceInMinutes, placeMs: here.t, ahead: aheadOf(given, { walked: places, here, kmh }, now()) }
}

/** Another phone or app has recorded what tells the pace: the way is read, so that every view tells the same times. */
const needsWay = computed(() => (profile.value?.km ?? 0) > 0 && paceOf(ownTrail()) === null)

/** Reads the route, and the own way where this device alone does not know the pace. */
async function readAhead(): Promise<void> {
  await openDays(person.value?.userId ?? '')
  await readRoute()
  if (needsWay.value) await readWay()
}

const aheadFailed = (): boolean => route.peek() === null

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

/** @param placeMs as of {@link Look} */
export const Age = ({ placeMs }: Pick<Look, 'placeMs'>) =>
  placeMs === null || now() - placeMs < OLD_MS ? null : (
    <p class="quiet">{words.value.way.placeOf(timeText(placeMs))}</p>
  )
