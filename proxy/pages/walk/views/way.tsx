/** My way: figures, the map of a day, why the carbon, the next stations, and links for others. */
import { useEffect } from 'preact/hooks'
import { useSignal } from '@preact/signals'
import type { WalkWords } from '#shared/locales/walk-words.ts'
import { Button } from '../../design/button.tsx'
import { Facts } from '../../design/list.tsx'
import { dayText, numberText, timeText, whenText } from '../format.ts'
import { sentenceOf } from '../problem.ts'
import { waiting } from '../session/queue.ts'
import { now, profile } from '../session/service.ts'
import { type OwnWalk, ownWay, readWay, wayError } from '../way/own-way.ts'
import { Notice, View } from './view.tsx'
import { Shares } from './shares.tsx'
import { Stations } from './stations.tsx'
import { WayMap } from './way-map.tsx'
import { Level } from './level.tsx'

export function Way({ words, levels }: { readonly words: WalkWords; readonly levels: readonly string[] }) {
  const { way } = words
  useEffect(() => void readWay(), [])
  const walked = ownWay.value
  const error = wayError.value
  const { km = 0, checkins = 0, carbon_saved_kg: saved = 0, next_level: next = null } = profile.value ?? {}
  return (
    <View title={way.title}>
      <Level words={words} levels={levels} checkIns={checkins + (waiting.value?.waiting.checkIns ?? 0)} />
      <p>
        {next === null
          ? profile.value?.level === 9
            ? way.highest
            : way.first
          : way.next(levels[next.level - 1]!, next.km_needed, next.checkins_needed)}
      </p>
      <Facts
        facts={[
          { term: way.km, figure: numberText(km), unit: 'km' },
          { term: way.checkIns, figure: numberText(checkins) },
          { term: way.saved, figure: numberText(saved), unit: 'kg' },
        ]}
      />
      {error === null ? null : (
        <Notice kind="warning" action={<Button onClick={() => void readWay()}>{words.retry}</Button>}>
          {sentenceOf(words, error)}
        </Notice>
      )}
      {walked === null || walked.day === null ? null : (
        <DayOfWay words={words} walked={walked} day={walked.day} />
      )}
      <Stations words={words} />
      <Shares words={words} />
      {walked === null ? null : (
        <p class="quiet">
          {way.asOf(whenText(Date.parse(walked.as_of), now()))}{' '}
          {walked.pending === null ? way.withoutPending : null}
        </p>
      )}
    </View>
  )
}

function DayOfWay(props: { readonly words: WalkWords; readonly walked: OwnWalk; readonly day: string }) {
  const { words, walked, day } = props
  const { way } = words
  const busy = useSignal(false)
  const ofDay = walked.days.find((one) => one.day === day)
  const choose = async (next: string) => {
    busy.value = true
    await readWay(next)
    busy.value = false
  }
  return (
    <section class="stack" aria-busy={busy.value}>
      <div class="field">
        <label for="day">{way.day}</label>
        <select id="day" value={day} onChange={({ currentTarget }) => void choose(currentTarget.value)}>
          {walked.days.map((one) => (
            <option key={one.day} value={one.day}>
              {dayText(one.day)}, {numberText(one.km)} km
            </option>
          ))}
        </select>
      </div>
      <WayMap walked={walked} label={way.map(dayText(day), ofDay?.km ?? 0)} />
      <Carbon words={words} walked={walked} kg={ofDay?.carbon_kg ?? 0} />
      {walked.checkins.length === 0 ? null : (
        <details class="card">
          <summary>
            {way.checkInsOfDay}: {walked.checkins.length}
          </summary>
          <ul class="rows">
            {walked.checkins.map(({ t, in_range: counts }) => (
              <li key={t}>
                {timeText(Date.parse(t))} {counts ? '✓' : way.notCounted}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}

function Carbon(props: { readonly words: WalkWords; readonly walked: OwnWalk; readonly kg: number }) {
  const { way } = props.words
  const onFoot = props.walked.stretches.filter(({ carbon_kg: kg }) => kg === 0)
  const motor = props.walked.stretches.filter(({ carbon_kg: kg }) => kg > 0)
  const modes: Readonly<Record<string, string>> = way.modes
  return (
    <details class="card">
      <summary>
        {way.carbon(props.kg)}. {way.why}
      </summary>
      <div class="stack-2">
        <p>{way.onFoot(Math.round(onFoot.reduce((sum, { km }) => sum + km, 0) * 100) / 100)}</p>
        <ul class="rows">
          {motor.map((one) => (
            <li key={one.from}>
              {way.motor(
                timeText(Date.parse(one.from)),
                timeText(Date.parse(one.to)),
                modes[one.mode] ?? one.mode,
                one.km,
                one.speed_kmh,
                one.carbon_kg,
              )}
            </li>
          ))}
        </ul>
        {motor.some(({ inferred }) => inferred) ? <p class="quiet">{way.bySpeed}</p> : null}
      </div>
    </details>
  )
}
