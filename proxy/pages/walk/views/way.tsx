/** My way: figures, the map of a day, why the carbon, the next stations, and links for others. */
import type { WalkWords } from '#shared/locales/words.ts'
import { Facts } from '../../design/list.tsx'
import { carbonIn } from '#shared/locales/carbon.ts'
import { language } from '../../frame/language.ts'
import { dayText, timeText, whenText } from '../format.ts'
import { sentenceOf } from '../problem.ts'
import { totalCheckIns } from '../session/queue.ts'
import { now } from '../session/clock.ts'
import { profile } from '../session/service.ts'
import type { DayOfWay } from '../way/kept-days.ts'
import { ownSums, readWay, type ShownDay, shownDay, wayError } from '../way/own-way.ts'
import { Again, Notice, View } from './view.tsx'
import { Carbon } from './carbon.tsx'
import { DaySwitch } from './day-switch.tsx'
import { MapPicture } from './large-map.tsx'
import { Level } from './level.tsx'
import { Shares } from './shares.tsx'
import { Stations } from './stations.tsx'
import { useReading } from './use-reading.ts'

/** Kilometres of the profile when the way was read last. */
let kmAtReading: number | undefined

async function read(): Promise<void> {
  await readWay()
  kmAtReading = profile.peek()?.km
}

/** The last reading has failed, or the sum above the map has gone on since. */
const isBehind = (): boolean => wayError.peek() !== null || profile.peek()?.km !== kmAtReading

export function Way({ words, levels }: { readonly words: WalkWords; readonly levels: readonly string[] }) {
  const { way } = words
  useReading(read, isBehind)
  const sums = ownSums.value
  const shown = shownDay.value
  const error = wayError.value
  const { carbon_saved_kg: saved = 0 } = profile.value ?? {}
  return (
    <View title={way.title}>
      <Level words={words} levels={levels} checkIns={totalCheckIns.value} />
      {error === null ? null : (
        <Notice kind="warning" action={<Again ask={readWay}>{words.retry}</Again>}>
          {sentenceOf(words, error)}
        </Notice>
      )}
      {shown === null ? null : <ShowDay words={words} shown={shown} />}
      <NextLevel words={words} levels={levels} />
      <Facts facts={[{ term: way.saved, ...carbonIn(language.value, saved) }]} />
      <Stations words={words} />
      <Shares words={words} />
      {sums === null ? null : (
        <p class="quiet">
          {way.asOf(whenText(Date.parse(sums.as_of), now()))}{' '}
          {sums.pending === null ? way.withoutPending : null}
        </p>
      )}
    </View>
  )
}

/** What is missing to the next level. */
function NextLevel({
  words: { way },
  levels,
}: {
  readonly words: WalkWords
  readonly levels: readonly string[]
}) {
  const { level, checkins = 0, next_level: next = null } = profile.value ?? {}
  if (next !== null) {
    // Check-ins that wait count, too, as in the sum above.
    const checkIns = Math.max(0, next.checkins_needed - Math.max(0, totalCheckIns.value - checkins))
    if (next.km_needed === 0 && checkIns === 0) return null
    return <p>{way.next(levels[next.level - 1]!, next.km_needed, checkIns)}</p>
  }
  return <p>{level === 9 ? way.highest : way.first}</p>
}

function ShowDay({ words, shown }: { readonly words: WalkWords; readonly shown: ShownDay }) {
  const { way } = words
  return (
    <section class="stack" aria-label={dayText(shown.day)}>
      <DaySwitch words={words} />
      <MapPicture words={words} />
      {shown.way === null ? (
        <p class="quiet">{way.dayMissing}</p>
      ) : (
        <>
          <Carbon words={words} day={shown.way} kg={shown.sums.carbon_kg} />
          <CheckIns words={words} day={shown.way} />
        </>
      )}
    </section>
  )
}

function CheckIns({
  words: { way },
  day: { checkins },
}: {
  readonly words: WalkWords
  readonly day: DayOfWay
}) {
  if (checkins.length === 0) return null
  return (
    <details class="card">
      <summary>
        {way.checkInsOfDay} <span class="quiet">{checkins.length}</span>
      </summary>
      <ul class="rows">
        {checkins.map(({ t, in_range: counts }) => (
          <li key={t}>
            {timeText(Date.parse(t))} {counts ? '✓' : way.notCounted}
          </li>
        ))}
      </ul>
    </details>
  )
}
