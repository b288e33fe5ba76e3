/** Recording: the switch, its state, and the limits of a web page. */
import { words } from '../words.ts'
import { useEffect, useRef } from 'preact/hooks'
import type { WalkWords } from '#shared/locales/words.ts'
import { Button } from '../../design/button.tsx'
import { minutesOf, timeText } from '../format.ts'
import { FIXABLE, positionSentence } from '../problem.ts'
import { openPause } from '../recording/pause-log.ts'
import {
  lastFix,
  pauses,
  positionFault,
  recordsHere,
  startRecording,
  stopRecording,
} from '../recording/recorder.ts'
import { darkScreen, useTime } from './dark-screen.tsx'
import { keep } from '../session/stored-signals.ts'
import { consentWithdrawn, recording, resting } from '../session/current-state.ts'
import { Way } from './feedback-tab.tsx'
import { View } from './view.tsx'

export function Record() {
  const { record } = words.value
  const on = recording.value
  const fault = positionFault.value
  const time = useTime()
  const pause = on ? openPause(pauses.value, time) : null
  const state = useRef<HTMLDivElement>(null)
  const advice = useRef<HTMLDivElement>(null)
  const was = useRef(on)
  useEffect(() => {
    // Scroll the changed part into view: the advice, or the stopped state.
    if (on !== was.current) (on ? advice : state).current?.scrollIntoView({ block: 'nearest' })
    was.current = on
  }, [on])
  return (
    <section class="card stack-2 record" aria-label={record.title}>
      <div ref={state} class="record-state">
        <p class="strong" aria-live="polite" data-resting={on ? resting.value : undefined}>
          {on ? (
            <>
              <span aria-hidden="true" class={`dot ${fault === null && pause === null ? '' : 'bad'}`} />{' '}
              {stateText(record, pause !== null)}
            </>
          ) : consentWithdrawn.value ? (
            record.noConsent
          ) : (
            record.off
          )}
        </p>
        {consentWithdrawn.value ? null : (
          <Button onClick={() => (on ? stopRecording() : startRecording())}>
            {on ? record.stop : record.start}
          </Button>
        )}
      </div>
      <div class="stack-2 faults" aria-live="polite">
        {on && fault !== null && FIXABLE.has(fault) ? <p class="wrong">{positionSentence(fault)}</p> : null}
        {pause === null ? null : (
          <p class="wrong">{record.pausing(minutesOf(pause.to - pause.from), record.causes[pause.cause])}</p>
        )}
      </div>
      <div ref={advice} class="advice" aria-live="polite">
        {on && fault !== 'permission' ? (
          <div class="stack-2">
            <p class="strong">{record.advice}</p>
            <Button kind="primary" onClick={() => keep(darkScreen, true)}>
              {record.dark}
            </Button>
          </div>
        ) : null}
      </div>
      {pauses.value.pauses.length === 0 ? null : (
        <ul class="rows">
          <Way to="pauses" title={record.pauses} />
        </ul>
      )}
    </section>
  )
}

function stateText(record: WalkWords['record'], hasGap: boolean): string {
  if (!recordsHere.value) return record.otherTab
  const fault = positionFault.value
  if (fault === 'rough') return record.causes.rough
  if (fault === 'permission' || fault === 'storage') return record.off
  if (lastFix.value === null || hasGap) return record.waiting
  return resting.value ? record.resting : record.on
}

export const Pauses = () => {
  const { record } = words.value
  const entries = [...pauses.value.pauses].reverse()
  return (
    <View title={record.pauses} back>
      <ul class="rows">
        {entries.map(({ from, to, cause }) => (
          <li key={from}>
            <p>
              <strong>{record.pause(timeText(from), timeText(to), minutesOf(to - from))}</strong>
              <br />
              {record.causes[cause]}
            </p>
          </li>
        ))}
      </ul>
      <p class="quiet">{record.honest}</p>
      <ul class="rows card">
        <Way to="trackers" title={words.value.trackers.title} more={record.trackersMore} />
      </ul>
    </View>
  )
}
