/** The same in words: where the procession is, when it comes to a station, what the organisers say, the totals. */
import type { MapWords } from '#shared/locales/words.ts'
import { Bars } from '../design/chart.tsx'
import { Emblem } from '../design/emblem.tsx'
import { Facts, Rows } from '../design/list.tsx'
import { CROWD_STEPS, MarkSymbol } from '../design/marks.tsx'
import { distanceKm } from './projection.ts'
import { carbonIn } from '#shared/locales/carbon.ts'
import { UNITS } from '#shared/locales/units.ts'
import { language } from '../frame/language.ts'
import { clock, date, figure, km, whereText } from './say.ts'
import { isAlive } from './scene.ts'
import { isScattered } from './scattered.ts'
import { ageMs, connected, data, freshness, me, news, route, standing } from './state.ts'

interface WithWords {
  readonly words: MapWords
}

const BADGES = { active: 'good', paused: 'warning', ended: 'danger', awaited: '', unknown: '' } as const

/** Coloured only while it is known to be so now. */
export const StandingBadge = ({ words }: WithWords) => (
  <span class={`badge ${freshness.value === 'fresh' ? BADGES[standing.value] : 'quiet'}`}>
    {words.standing[standing.value]}
  </span>
)

/** What the reader must know first: how old this is, whether it is paused, and what the organisers say. */
export function Notices({ words }: WithWords) {
  const map = news.value
  const message = map?.message ?? null
  return (
    <output class="notices">
      {freshness.value === 'old' || freshness.value === 'gone' ? <Age words={words} /> : null}
      {freshness.value === 'none' ? (
        <p class="quiet">{connected.value ? words.loading : words.offline}</p>
      ) : null}
      {map?.stale.includes('crowd') && freshness.value === 'fresh' ? (
        <p class="notice warning">{words.crowdStale}</p>
      ) : null}
      {standing.value === 'active' && message === null ? null : map === null ? null : (
        <div class={standing.value === 'paused' ? 'notice warning' : 'notice'}>
          <p>
            {message === null ? null : <span class="small quiet">{words.organisers} </span>}
            <span class="message">{message ?? words.sentence[standing.value]}</span>
            {standing.value === 'awaited' && map.event.starts_at !== null ? (
              <span class="block">{words.begins(date(map.event.starts_at))}</span>
            ) : null}
          </p>
        </div>
      )}
    </output>
  )
}

const Age = ({ words }: WithWords) => (
  <p class="notice danger">
    <span>
      {connected.value ? null : <span class="block">{words.offline}</span>}
      {words.old(clock(news.value!.as_of), words.ago(Math.max(1, Math.floor(ageMs.value / 60_000))))}
      {freshness.value === 'gone' ? <span class="block">{words.tooOld}</span> : null}
    </span>
  </p>
)

const PARTS = ['front', 'middle', 'tail'] as const
/** Slower than this the procession rests. */
const RESTING_KMH = 0.5

/** Where the procession is. */
export function Procession({ words }: WithWords) {
  const map = news.value
  if (map === null || !isAlive.value) return null
  if (map.on_map === 0 && map.middle === null) return <p class="quiet">{words.nobody}</p>
  const { front, tail, speed_kmh: speed } = map
  const spread = front?.route_km != null && tail?.route_km != null ? front.route_km - tail.route_km : null
  return (
    <>
      <Rows>
        {PARTS.map((part) => (
          <PartRow key={part} part={part} words={words} />
        ))}
      </Rows>
      <p class="small quiet">
        {speed === null ? null : speed < RESTING_KMH ? words.resting : words.speed(figure(speed, 1))}{' '}
        {spread !== null && spread > 0.1
          ? (isScattered(spread, 0) ? words.scattered : words.length)(km(spread))
          : null}
      </p>
    </>
  )
}

function PartRow({ part, words }: WithWords & { readonly part: (typeof PARTS)[number] }) {
  const place = news.value?.[part]
  // Without a route there is nothing to say of a place that is no name.
  if (place == null || (place.station === null && place.route_km === null)) return null
  const where = whereText(place, words)
  return (
    <li>
      <MarkSymbol mark={part} />
      <span class="grow row">
        <span class="part quiet small">{words.part[part]}</span>
        {where === null ? null : <strong>{where}</strong>}
      </span>
      {place.route_km === null || route.value === null ? null : (
        <span class="number small">{words.along(km(place.route_km), km(route.value.km))}</span>
      )}
    </li>
  )
}

/** How the crowd is shown, and what is not. */
export function Crowd({ words }: WithWords) {
  const map = news.value
  if (map === null || !isAlive.value) return null
  return (
    <div class="stack tight">
      <p>{words.onMap(map.on_map)}</p>
      <div class="legend small quiet">
        <span>{words.crowdLegend}</span>
        <span aria-hidden="true">
          {CROWD_STEPS.map((step) => (
            <i key={step} class={`crowd-${step}`} />
          ))}
        </span>
      </div>
      {map.event.crowd > 1 ? <p class="small quiet crowd-note">{words.crowdNote(map.event.crowd)}</p> : null}
    </div>
  )
}

export function Me({ words }: WithWords) {
  const middle = isAlive.value ? news.value?.middle : null
  if (me.value === null) return null
  return (
    <p class="notice">
      <span>
        {middle == null ? null : words.meToProcession(km(distanceKm(me.value, middle)))}{' '}
        <span class="small quiet block">{words.mePrivate}</span>
      </span>
    </p>
  )
}

export function Totals({ words }: WithWords) {
  const totals = news.value?.totals
  if (totals == null) return null
  return (
    <section class="stack totals">
      <h2>{words.totals}</h2>
      <Facts
        facts={[
          { term: words.pilgrims, figure: figure(totals.pilgrims) },
          { term: words.together, figure: figure(totals.km), unit: UNITS[language.value].km },
          { term: words.saved, ...carbonIn(language.value, totals.carbon_saved_kg) },
        ]}
      />
      <h3>{words.levels}</h3>
      <Bars
        bars={totals.levels.map((count, i) => ({
          name: words.page.levels[i]!,
          value: count,
          shown: figure(count),
          symbol: <Emblem level={i + 1} />,
        }))}
      />
      {totals.levels.reduce((sum, count) => sum + count, 0) === totals.pilgrims ? null : (
        <p class="small quiet">{words.levelsOf}</p>
      )}
      {totals.as_of === null ? null : <p class="small quiet">{words.totalsOf(clock(totals.as_of))}</p>}
    </section>
  )
}

/** The organisers' pages. */
export function Ways({ words }: WithWords) {
  if (standing.value === 'ended' || (data.checkinUrl === null && data.surveyUrl === null)) return null
  return (
    <div class="row">
      {data.checkinUrl === null ? null : (
        <a class="button primary" href={data.checkinUrl}>
          {words.checkin}
        </a>
      )}
      {data.surveyUrl === null ? null : (
        <a class="button" href={data.surveyUrl}>
          {words.survey}
        </a>
      )}
    </div>
  )
}
