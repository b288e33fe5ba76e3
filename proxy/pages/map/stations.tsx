/** My station, and the list of all. */
import type { EventRoute } from '#shared/client/index.ts'
import type { MapWords } from '#shared/locales/words.ts'
import { Button } from '../design/button.tsx'
import { Rows } from '../design/list.tsx'
import { MarkSymbol } from '../design/marks.tsx'
import { showToast } from '../design/toast.tsx'
import { isScattered } from './scattered.ts'
import { tellNoMore, wanted, wantToBeTold } from './my-station.ts'
import { clock, km, kmText, stationName } from './say.ts'
import { chooseStation, freshness, isScreen, myStation, news, route } from './state.ts'

type Station = EventRoute['stations'][number]

interface Passage {
  readonly text: string
  readonly state: 'passed' | 'passing' | 'expected' | 'unknown'
}

/** What is known of a station: passed, now, expected at a time, or nothing. */
function passageOf(index: number, station: Station, words: MapWords): Passage {
  const map = news.value
  // What was expected some time ago is no news.
  if (map === null || freshness.value !== 'fresh') return { text: '', state: 'unknown' }
  const [front, tail] = [map.front?.route_km ?? null, map.tail?.route_km ?? null]
  if (tail !== null && tail >= station.route_km) return { text: words.passed, state: 'passed' }
  // After the end nobody passes any more, and nothing tells who has.
  if (map.status === 'ended') return { text: '', state: 'unknown' }
  if (front !== null && front >= station.route_km)
    return { text: isScattered(front, tail) ? words.somePassed : words.passing, state: 'passing' }
  const estimate = map.estimates.find((one) => one.station === index)
  const at = estimate?.front_at ?? estimate?.middle_at
  if (at == null || map.status !== 'active') return { text: words.later, state: 'unknown' }
  return { text: `~ ${clock(at)}`, state: 'expected' }
}

/** A sentence about the reader's station. */
function sentenceOf(index: number, station: Station, words: MapWords): string {
  const passage = passageOf(index, station, words)
  if (passage.state === 'passed') return words.tailPassed
  if (passage.state !== 'expected') return passage.text
  const estimate = news.value!.estimates.find((one) => one.station === index)!
  const middle = words.middleAt(clock(estimate.middle_at))
  return estimate.front_at === null ? middle : words.both(words.frontAt(clock(estimate.front_at)), middle)
}

/** Kilometres that the front still has to walk to a station; null when it has passed, or is not known. */
function toGoKm(station: Station): number | null {
  const front = freshness.value === 'fresh' ? (news.value?.front?.route_km ?? null) : null
  return front === null || front >= station.route_km ? null : station.route_km - front
}

/** The reader's station in two lines, for those who have chosen one. */
export function MyStationSummary({ words }: { readonly words: MapWords }) {
  const index = myStation.value
  const station = index === null ? undefined : route.value?.stations[index]
  if (index === null || station === undefined) return null
  const toGo = toGoKm(station)
  return (
    <output class="expected">
      <strong>{words.page.pair(stationName(station), sentenceOf(index, station, words))}</strong>
      {toGo === null ? null : <span class="small quiet block">{words.toGo(km(toGo))}</span>}
    </output>
  )
}

export function MyStation({ words }: { readonly words: MapWords }) {
  const stations = route.value?.stations ?? []
  if (stations.length === 0) return null
  const index = myStation.value
  const station = index === null ? undefined : stations[index]
  return (
    <section class="card my-station">
      <div class="field">
        <label htmlFor="my-station">{words.myStation}</label>
        <select
          id="my-station"
          value={index === null ? '' : String(index)}
          onChange={({ currentTarget: { value } }) => chooseStation(value === '' ? null : Number(value))}
        >
          <option value="">{words.chooseStation}</option>
          {stations.map((one, i) => (
            <option key={`${one.name} ${one.route_km}`} value={String(i)}>
              {words.page.aside(stationName(one), kmText(one.route_km))}
            </option>
          ))}
        </select>
      </div>
      {index === null || station === undefined ? null : <Tell words={words} />}
    </section>
  )
}

async function want(words: MapWords): Promise<void> {
  showToast((await wantToBeTold()) ? words.toldHere : words.toldDenied, { forMs: 8_000 })
}

const Tell = ({ words }: { readonly words: MapWords }) => (
  <Button aria-pressed={wanted.value} onClick={() => (wanted.value ? tellNoMore() : void want(words))}>
    {wanted.value ? '🔔 ' : ''}
    {words.tellMe}
  </Button>
)

/** What a display on a wall has room for. */
const MOST_ON_SCREEN = 4
/** Fewer stations that are passed stay in the list. */
const LEAST_FOLDED = 3

/** The stations ahead, and above them, folded, those that the whole procession has passed. */
export function Stations({ words }: { readonly words: MapWords }) {
  const stations = route.value?.stations ?? []
  if (stations.length === 0) return null
  const ahead = stations.findIndex((one, i) => passageOf(i, one, words).state !== 'passed')
  const passed = ahead < 0 ? stations.length : ahead
  const folded = passed < LEAST_FOLDED ? 0 : passed
  const rows = (from: number, to: number) =>
    stations
      .slice(from, to)
      .map((station, i) => (
        <StationRow
          key={`${station.name} ${station.route_km}`}
          index={from + i}
          station={station}
          words={words}
        />
      ))
  const last = isScreen ? folded + MOST_ON_SCREEN : stations.length
  return (
    <section class="stack tight">
      <h2>{words.stations}</h2>
      {folded === 0 || isScreen ? null : (
        <details class="passed-stations">
          <summary>{words.passedStations(folded)}</summary>
          <Rows>{rows(0, folded)}</Rows>
        </details>
      )}
      <Rows>{rows(folded, last)}</Rows>
      {news.value?.status === 'ended' ? null : <p class="small quiet">{words.estimate}</p>}
    </section>
  )
}

function StationRow({
  index,
  station,
  words,
}: {
  readonly index: number
  readonly station: Station
  readonly words: MapWords
}) {
  const { text, state } = passageOf(index, station, words)
  const own = myStation.value === index
  return (
    <li class={`passage ${state}${own ? ' own' : ''}`}>
      <MarkSymbol mark="station" />
      <span class="grow">
        {stationName(station)} <span class="small quiet">{kmText(station.route_km)}</span>
      </span>
      <span class="small">{text}</span>
    </li>
  )
}
