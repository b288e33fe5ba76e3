/** The map in words: the age of the news, the procession's place, the organisers' message, the way to the app. */
import { words } from './words.ts'
import type { EventMap } from '#shared/client/index.ts'
import { Rows } from '../design/list.tsx'
import { CROWD_STEPS, MarkSymbol } from '../design/marks.tsx'
import { distanceKm } from './projection.ts'
import { clock, date, kmText, whereText } from './format.ts'
import { figure } from '#shared/locales/units.ts'
import { isAlive } from './scene.ts'
import {
  ageMs,
  connected,
  data,
  freshness,
  isRelay,
  leaderName,
  me,
  news,
  route,
  silentSince,
  standing,
} from './state.ts'
import { isScattered } from './stations-around.ts'
import { language, pageWords } from '../frame/language.ts'

const BADGES = { active: 'good', paused: 'warning', ended: 'danger', awaited: '', unknown: '' } as const

/** Coloured only while the state is known to be current. */
export const StandingBadge = () => (
  <span class={`badge ${freshness.value === 'fresh' ? BADGES[standing.value] : 'quiet'}`}>
    {words.value.standing[standing.value]}
  </span>
)

/** Notices above everything else: the age of the news, a pause, and the organisers' message. */
export function Notices() {
  const map = news.value
  const message = map && (map.messages?.[language.value] ?? map.messages?.['en'] ?? map.message)
  return (
    <output class="notices">
      {freshness.value === 'old' || freshness.value === 'gone' ? <Age /> : null}
      {freshness.value === 'none' ? (
        <p class="quiet">{connected.value ? words.value.loading : pageWords.value.offline}</p>
      ) : null}
      {map?.stale.includes('crowd') && freshness.value === 'fresh' ? (
        <p class="notice warning">{words.value.crowdStale}</p>
      ) : null}
      {silentSince.value === null || !isAlive.value ? null : (
        <p class="notice warning">{words.value.leaderSilent(leaderName.value, clock(silentSince.value))}</p>
      )}
      {standing.value === 'active' && message === null ? null : map === null ? null : (
        <div class={standing.value === 'paused' ? 'notice warning' : 'notice'}>
          <p>
            {message === null ? null : <span class="small quiet">{pageWords.value.organisers}</span>}
            <strong class="message">{message ?? ownMessage(map)}</strong>
            {standing.value === 'paused'
              ? pageWords.value.paused
              : words.value.sentence[standing.value as 'ended' | 'awaited']}
          </p>
        </div>
      )}
    </output>
  )
}

/** Shown large without a message of the organisers: the start of the event, or the totals after its end. */
const ownMessage = ({ status, totals, event: { starts_at } }: EventMap): string | null =>
  status === 'ended'
    ? totals === null || totals.km < 1
      ? null
      : words.value.achieved(totals.pilgrims, figure(totals.km), figure(totals.carbon_saved_kg))
    : standing.value === 'awaited'
      ? starts_at && words.value.begins(date(starts_at))
      : null

/** Says that the map is empty, and how many people a place needs before it is shown. */
export const nobodyText = ({ event }: EventMap): string =>
  `${words.value.nobody} ${words.value.crowdNote(event.crowd)}`

function agoText(minutes: number): string {
  const { ago } = words.value
  if (minutes < 60) return ago.minutes(minutes)
  return minutes < 1440 ? ago.hours(Math.round(minutes / 60)) : ago.days(Math.round(minutes / 1440))
}

const Age = () => (
  <p class="notice danger">
    <span>
      {connected.value ? null : <span class="block">{pageWords.value.offline}</span>}
      {words.value.old(clock(news.value!.as_of), agoText(Math.max(1, Math.floor(ageMs.value / 60_000))))}
      {freshness.value === 'gone' ? <span class="block">{words.value.tooOld}</span> : null}
    </span>
  </p>
)

const PARTS = ['palanquin', 'front', 'middle', 'tail'] as const
/** Below this speed the procession rests. */
const RESTING_KMH = 0.5

const HOUR_MS = 3_600_000
/** Walkers were seen in the last two hours; older positions are from the night. */
const OLD_HOURS = 3

export function Procession() {
  const map = news.value
  if (map === null || !isAlive.value) return null
  if (map.on_map === 0 && map.middle === null && map.palanquin === null)
    // Before the event begins, the notice shows the start.
    return standing.value === 'awaited' ? null : <p class="quiet">{nobodyText(map)}</p>
  const { front, tail, speed_kmh: speed } = map
  const spread = front?.route_km != null && tail?.route_km != null ? front.route_km - tail.route_km : 0
  const oldHours = Math.round((Date.parse(map.as_of) - Date.parse(map.seen_since)) / HOUR_MS)
  const facts = [
    spread <= 0.1
      ? null
      : (isScattered(spread, 0) ? words.value.scattered : words.value.length)(kmText(spread)),
    speed === null ? null : speed < RESTING_KMH ? words.value.resting : words.value.speed(figure(speed)),
    oldHours < OLD_HOURS ? null : words.value.positionsOld(oldHours),
  ].filter((text) => text !== null)
  return (
    <>
      <RouteBar />
      <Rows>
        {PARTS.map((part) => (
          <PartRow key={part} part={part} />
        ))}
      </Rows>
      {facts.length === 0 ? null : <p class="small quiet facts-line">{facts.join(' · ')}</p>}
    </>
  )
}

const isSilent = (part: (typeof PARTS)[number]): boolean => part === 'palanquin' && silentSince.value !== null

/** The route as a line, with the procession on it. The rows below contain the same. */
function RouteBar() {
  const map = news.value!
  const length = route.value?.km ?? 0
  const at = (part: (typeof PARTS)[number]): number | null => {
    const along = map[part]?.route_km ?? null
    return along === null ? null : Math.min(100, (along / length) * 100)
  }
  const [front, tail] = [at('front'), at('tail')]
  if (length === 0 || front === null || tail === null) return null
  return (
    <div class="route-bar" aria-hidden="true">
      <i style={{ left: `${tail}%`, width: `${Math.max(0, front - tail)}%` }} />
      {PARTS.filter((part) => at(part) !== null).map((part) => (
        <b
          key={part}
          class={isSilent(part) ? 'silent' : undefined}
          style={{ left: `${at(part) ?? 0}%`, background: `var(--mark-${part})` }}
        />
      ))}
    </div>
  )
}

/** The leader's name depends on the kind of event. */
export const partName = (part: (typeof PARTS)[number]): string =>
  part === 'palanquin' ? leaderName.value : words.value.part[part]

function PartRow({ part }: { readonly part: (typeof PARTS)[number] }) {
  const place = news.value?.[part]
  // Without a route, an unnamed place has no description.
  if (place == null || (place.station === null && place.route_km === null)) return null
  const where = whereText(place)
  const along = place.route_km === null ? null : kmText(place.route_km)
  const time = 'seen_at' in place && typeof place.seen_at === 'string' ? clock(place.seen_at) : null
  const seen = time === null || !isSilent(part) ? time : words.value.lastSeen(time)
  return (
    <li class={isSilent(part) ? 'silent' : undefined}>
      <MarkSymbol mark={part} isRelay={isRelay.value} />
      <span class="grow">
        {where === null ? null : <strong class="block">{where}</strong>}
        <span class="small quiet">
          {[partName(part), along, seen].filter((text) => text !== null).join(' · ')}
        </span>
      </span>
    </li>
  )
}

/** How the crowd is shown, and what is left out. */
export function Crowd() {
  const map = news.value
  if (map === null || !isAlive.value || map.on_map === 0) return null
  return (
    <div class="stack tight">
      <p class="legend">
        <span>{words.value.onMap(map.on_map)}</span>
        <span aria-hidden="true">
          {CROWD_STEPS.map((step) => (
            <i key={step} class={`crowd-${step}`} />
          ))}
        </span>
      </p>
      <p class="small quiet">{words.value.crowdNote(map.event.crowd)}</p>
    </div>
  )
}

export function Me() {
  const middle = isAlive.value ? news.value?.middle : null
  if (me.value === null) return null
  return (
    <p class="notice">
      <span>
        {middle == null ? null : words.value.meToProcession(kmText(distanceKm(me.value, middle)))}{' '}
        <span class="small quiet block">{words.value.mePrivate}</span>
      </span>
    </p>
  )
}

/** Links to the app, or to the organisers' pages instead. */
export const Ways = () =>
  standing.value === 'ended' ? null : (
    <div class="row">
      <a class="button primary" href={data.checkinUrl ?? '/walk/'}>
        {pageWords.value.walkAlong}
      </a>
      {data.surveyUrl === null ? null : (
        <a class="button" href={data.surveyUrl}>
          {words.value.survey}
        </a>
      )}
    </div>
  )
