/** The procession's arrivals: the next station, the reader's own, and the list of all. */
import { words } from './words.ts'
import type { EventRoute } from '#shared/client/index.ts'
import { Button } from '../design/button.tsx'
import { Rows } from '../design/list.tsx'
import { MarkSymbol } from '../design/marks.tsx'
import { showToast } from '../design/toast.tsx'
import { tellNoMore, wanted, wantToBeTold } from './my-station.ts'
import { arrivalText, kmText, stationName } from './format.ts'
import { hasReached, isScattered } from './stations-around.ts'
import { chooseStation, freshness, leader, myStation, news, route } from './state.ts'
import { pageWords } from '../frame/language.ts'

type Station = EventRoute['stations'][number]

interface Passage {
  readonly text: string
  readonly state: 'passed' | 'passing' | 'expected' | 'unknown'
}

/** The state of a station: passed, current, expected at a time, or nothing. */
function passageOf(index: number, station: Station): Passage {
  const map = news.value
  // Outdated expectations are not shown.
  if (map === null || freshness.value !== 'fresh') return { text: '', state: 'unknown' }
  // After the end no passage is known any more.
  if (map.status === 'ended') return { text: '', state: 'unknown' }
  const [front, tail] = [leaderKm(), map.tail?.route_km ?? null]
  if (tail !== null && tail >= station.route_km) return { text: words.value.passed, state: 'passed' }
  if (front !== null && hasReached(front, station))
    return { text: isScattered(front, tail) ? words.value.somePassed : words.value.passing, state: 'passing' }
  const estimate = map.estimates.find((each) => each.station === index)
  const at = leader.value === null ? (estimate?.front_at ?? estimate?.middle_at) : estimate?.middle_at
  if (at === undefined || map.status !== 'active') return { text: '', state: 'unknown' }
  return { text: arrivalText(at, estimate!.by), state: 'expected' }
}

/** The leader for arrivals: the palanquin, or else the front. Kilometres along the route; null: not known. */
function leaderKm(): number | null {
  const map = freshness.value === 'fresh' ? news.value : null
  return map === null || map.status === 'ended' ? null : ((leader.value ?? map.front)?.route_km ?? null)
}

/** Kilometres from the palanquin or the front to a station; null when it has passed, or is not known. */
function toGoKm(station: Station): number | null {
  const km = leaderKm()
  return km === null || hasReached(km, station) ? null : station.route_km - km
}

interface NextStation {
  readonly name: string
  /** Whether it is the reader's own, and not the procession's next one. */
  readonly isOwn: boolean
  /** Arrival of the front, or what else is known; the kilometres if no time is known. */
  readonly when: string
  /** Kilometres to go, with their unit, if `when` does not contain them. */
  readonly toGo: string | null
  /** Arrival of the middle, if it differs from the front's. */
  readonly middle: string | null
}

/** The reader's station, or the procession's next one; null: neither is known now. */
export function nextStation(): NextStation | null {
  const map = news.value
  if (map === null || freshness.value !== 'fresh' || map.status === 'ended') return null
  const stations = route.value?.stations ?? []
  const lead = leaderKm()
  const index =
    myStation.value ?? (lead === null ? null : stations.findIndex((each) => !hasReached(lead, each)))
  const station = index === null ? undefined : stations[index]
  if (index === null || station === undefined) return null
  const { text, state } = passageOf(index, station)
  const toGo = toGoKm(station)
  const estimate = map.estimates.find((each) => each.station === index)
  const middle =
    estimate !== undefined && estimate.by !== 'plan' && map.status === 'active' && leader.value === null
      ? arrivalText(estimate.middle_at, estimate.by)
      : null
  return {
    name: stationName(station),
    isOwn: myStation.value !== null,
    when:
      state === 'passed' ? words.value.tailPassed : text !== '' ? text : toGo === null ? '' : kmText(toGo),
    toGo: toGo === null || text === '' ? null : kmText(toGo),
    middle: middle === null || middle === text || state === 'passed' ? null : words.value.middleAt(middle),
  }
}

/** A longer text is set smaller, so that it fits into one line of a phone. */
const LARGE_MOST = 12

/** The main answer of the page: the station, the time in large type, and the distance. */
export function Next() {
  const next = nextStation()
  if (next === null) return null
  const { name, isOwn, when, toGo, middle } = next
  const below = [toGo === null ? null : words.value.toGo(toGo), middle].filter((text) => text !== null)
  return (
    <output class="next-arrival">
      <span class="small quiet">{isOwn ? words.value.myStation : words.value.nextStation}</span>
      <strong class="place">{name}</strong>
      <span class={when.length > LARGE_MOST ? 'when long' : 'when'}>{when}</span>
      {below.length === 0 ? null : <span class="small quiet below">{below.join(' · ')}</span>}
    </output>
  )
}

export function MyStation() {
  const stations = route.value?.stations ?? []
  if (stations.length === 0 || news.value?.status === 'ended') return null
  const index = myStation.value
  const isReached = index !== null && passageOf(index, stations[index]!).state.startsWith('pass')
  return (
    <section class="my-station">
      <div class="field">
        <label htmlFor="my-station">{words.value.myStation}</label>
        <select
          id="my-station"
          value={index === null ? '' : String(index)}
          onChange={({ currentTarget: { value } }) => chooseStation(value === '' ? null : Number(value))}
        >
          <option value="">{words.value.chooseStation}</option>
          {stations.map((each, i) => (
            <option key={`${each.name} ${each.route_km}`} value={String(i)}>
              {pageWords.value.aside(stationName(each), kmText(each.route_km))}
            </option>
          ))}
        </select>
      </div>
      {index === null || isReached ? null : <Tell />}
    </section>
  )
}

async function want(): Promise<void> {
  showToast((await wantToBeTold()) ? words.value.toldHere : words.value.toldDenied, {
    forMs: 8_000,
  })
}

const Tell = () => (
  <Button aria-pressed={wanted.value} onClick={() => (wanted.value ? tellNoMore() : void want())}>
    {wanted.value ? '🔔 ' : ''}
    {words.value.tellMe}
  </Button>
)

/** With fewer passed stations the list is not folded. */
const LEAST_FOLDED = 3

/** The stations ahead, and above them, folded, those that the whole procession has passed. */
export function Stations() {
  const stations = route.value?.stations ?? []
  if (stations.length === 0) return null
  const ahead = stations.findIndex((each, i) => passageOf(i, each).state !== 'passed')
  const passed = ahead < 0 ? stations.length : ahead
  const folded = passed < LEAST_FOLDED ? 0 : passed
  const rows = (from: number, to: number) =>
    stations
      .slice(from, to)
      .map((station, i) => (
        <StationRow key={`${station.name} ${station.route_km}`} index={from + i} station={station} />
      ))
  return (
    <section class="stack tight">
      <h2>{words.value.stations}</h2>
      {folded === 0 ? null : (
        <details class="folded">
          <summary>{words.value.passedStations(folded)}</summary>
          <Rows>{rows(0, folded)}</Rows>
        </details>
      )}
      <Rows>{rows(folded, stations.length)}</Rows>
    </section>
  )
}

interface StationRowProps {
  readonly index: number
  readonly station: Station
}

function StationRow({ index, station }: StationRowProps) {
  const { text, state } = passageOf(index, station)
  const toGo = toGoKm(station)
  return (
    <li class={`passage ${state}${myStation.value === index ? ' own' : ''}`}>
      <MarkSymbol mark="station" />
      <span class="grow">
        {stationName(station)}
        <span class="small quiet block">
          {toGo === null ? kmText(station.route_km) : words.value.toGo(kmText(toGo))}
        </span>
      </span>
      <span class="small">{text}</span>
    </li>
  )
}
