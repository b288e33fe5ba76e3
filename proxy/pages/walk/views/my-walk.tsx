/** The own walk: figures, the map of a day, its carbon, and the next stations. */
import { kmToGo } from '#shared/locales/units.ts'
import { words } from '../words.ts'
import { carbonText, dayText, timeText, whenText } from '../format.ts'
import { sentenceOf } from '../problem.ts'
import { totalCheckIns } from '../outbox.ts'
import { now } from '../session/clock.ts'
import { hasEnded, levelName, profile } from '../session/service.ts'
import type { DayOfWay } from '../way/kept-days.ts'
import { ownSums, readWay, type ShownDay, shownDay, wayError } from '../way/own-way.ts'
import { Again, Notice } from './notice.tsx'
import { View } from './view.tsx'
import { DaySwitch, MapPicture } from './large-map.tsx'
import { Level } from './level.tsx'
import { Way as Row } from './feedback-tab.tsx'
import { Places } from './places.tsx'
import { Stations } from './stations.tsx'
import { useReading } from './use-service.tsx'
import { savedMg } from '#shared/core/rules/carbon.ts'

/** Kilometres of the profile when the way was last read. */
let kmAtReading: number | undefined

async function read(): Promise<void> {
  await readWay()
  kmAtReading = profile.peek()?.km
}

/** The last read failed, or the profile's sum has changed since. */
const isBehind = (): boolean => wayError.peek() !== null || profile.peek()?.km !== kmAtReading

export function Way() {
  const { tabs, way, share } = words.value
  useReading(read, isBehind)
  const sums = ownSums.value
  const shown = shownDay.value
  const error = wayError.value
  return (
    <View title={tabs.way}>
      <Level checkIns={totalCheckIns.value} />
      {error === null ? null : (
        <Notice kind="warning" action={<Again ask={readWay}>{words.value.retry}</Again>}>
          {sentenceOf(error)}
        </Notice>
      )}
      {shown === null ? null : <ShowDay shown={shown} />}
      {hasEnded() ? null : (
        <>
          <NextLevel />
          <Stations />
          <Places />
        </>
      )}
      <ul class="rows card">
        <Row to="share" title={share.title} />
      </ul>
      {sums === null || (error === null && sums.pending !== null) ? null : (
        <p class="quiet">
          {way.asOf(whenText(Date.parse(sums.as_of), now()))}{' '}
          {sums.pending === null ? way.withoutPending : null}
        </p>
      )}
    </View>
  )
}

function NextLevel() {
  const { level, km: walked = 0, checkins = 0, next_level: next = null } = profile.value ?? {}
  if (next !== null) {
    // Pending check-ins count as well, as in the sum above.
    const checkIns = Math.max(0, next.checkins_needed - Math.max(0, totalCheckIns.value - checkins))
    if (next.km_needed === 0 && checkIns === 0) return null
    const km = next.km_needed === 0 ? null : kmToGo(next.km_needed, walked)
    return <p>{words.value.way.next(levelName(next.level), km, checkIns)}</p>
  }
  return <p>{level === 9 ? words.value.way.highest : words.value.way.first}</p>
}

function ShowDay({ shown }: { readonly shown: ShownDay }) {
  const { way } = words.value
  return (
    <section class="stack" aria-label={dayText(shown.day)}>
      <DaySwitch />
      <MapPicture />
      {shown.way === null ? (
        <p class="quiet">{way.dayMissing}</p>
      ) : (
        <>
          <Carbon day={shown.way} />
          <CheckIns day={shown.way} />
        </>
      )}
    </section>
  )
}

function CheckIns({ day: { checkins } }: { readonly day: DayOfWay }) {
  if (checkins.length === 0) return null
  return (
    <details class="card">
      <summary>
        {words.value.way.checkInsOfDay} <span class="quiet">{checkins.length}</span>
      </summary>
      <ul class="rows">
        {checkins.map(({ t, in_range: counts }) => (
          <li key={t}>
            {timeText(Date.parse(t))} {counts ? '✓' : words.value.way.notCounted}
          </li>
        ))}
      </ul>
    </details>
  )
}

/** Shorter distances are not shown. */
const LEAST_KM = 0.1

function Carbon({ day: { stretches } }: { readonly day: DayOfWay }) {
  const { way } = words.value
  const onFoot = stretches.filter(({ carbon_kg: kg }) => kg === 0)
  const motor = stretches.filter(({ carbon_kg: kg }) => kg > 0)
  const modes: Readonly<Record<string, string>> = way.modes
  const kmOnFoot = Math.round(onFoot.reduce((sum, { km }) => sum + km, 0) * 100) / 100
  // Shows no savings before it shows a distance.
  if (kmOnFoot < LEAST_KM && motor.length === 0) return null
  const [allKm, spentKg] = stretches.reduce(
    ([k, c], stretch) => [k + stretch.km, c + stretch.carbon_kg],
    [0, 0],
  )
  // Rounding can make a day by bus negative.
  const saved = Math.max(0, savedMg(allKm * 1e6, spentKg * 1e6) / 1e6)
  return (
    <details class="card">
      <summary>{way.carbon(carbonText(saved))}</summary>
      <ul class="rows">
        <li>{way.onFoot(kmOnFoot)}</li>
        {motor.map((stretch) => (
          <li key={stretch.from}>
            {way.motor(
              timeText(Date.parse(stretch.from)),
              timeText(Date.parse(stretch.to)),
              modes[stretch.mode] ?? stretch.mode,
              stretch.km,
              stretch.speed_kmh,
              carbonText(stretch.carbon_kg),
            )}
          </li>
        ))}
      </ul>
      {motor.some(({ inferred }) => inferred) ? <p class="quiet">{way.bySpeed}</p> : null}
    </details>
  )
}
