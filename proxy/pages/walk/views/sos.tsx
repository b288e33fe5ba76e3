/** The SOS button: held for two seconds, by finger, mouse or keyboard. It says what became of the alert. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Button } from '../../design/button.tsx'
import { isOfCurrentWalk, pressSos, sos, whySosWaits } from '../emergency/sos.ts'
import { timeText } from '../format.ts'
import { sentenceOf } from '../problem.ts'
import { now } from '../session/clock.ts'
import { words } from '../words.ts'
import { EmergencyNumbers } from './emergency.tsx'

const HOLD_MS = 2_000
/** What was seen so long ago is not shown any more, ms. */
const SHOWN_MS = 12 * 3_600_000

export function Sos() {
  const said = words.value.emergency
  const { state, handlers, send } = useHold()
  const press = sos.value
  const isShown =
    press !== null &&
    (press.sentMs === null ||
      (isOfCurrentWalk(press) && (press.seenMs === null || now() - press.seenMs < SHOWN_MS)))
  return (
    <section class="sos stack-2">
      <button type="button" class={state === 'held' ? 'sos-button held' : 'sos-button'} {...handlers}>
        <strong>{said.sos}</strong> <span>{said.hold}</span>
      </button>
      <div aria-live="polite" class="stack-2">
        {state === 'held' ? <p>{said.holding}</p> : null}
        {state === 'short' ? <p>{said.short}</p> : null}
        {isShown && state !== 'held' ? <Became /> : null}
      </div>
      {state === 'short' ? <Button onClick={send}>{said.now}</Button> : null}
      {isShown ? (
        <>
          <p>{said.faster}</p>
          <EmergencyNumbers />
        </>
      ) : null}
    </section>
  )
}

/** What became of the press. */
function Became() {
  const said = words.value.emergency
  const { pressedMs, sentMs, seenMs, isUnalerted = false } = sos.value!
  if (seenMs !== null) return <p class="good strong">{said.seen(timeText(seenMs))}</p>
  if (sentMs !== null && isUnalerted) return <p class="strong">{said.unalerted(timeText(sentMs))}</p>
  if (sentMs !== null) return <p class="strong">{said.sent(timeText(sentMs))}</p>
  const why = whySosWaits.value
  const isAway = why === null || why.status === 0
  return (
    <>
      <p class="strong">{said.waits(timeText(pressedMs))}</p>
      {isAway ? null : <p>{sentenceOf(why)}</p>}
    </>
  )
}

/**
 * A press that lasts. One that is too short offers a button of its own, for screen readers and switches, which cannot
 * hold one.
 */
function useHold() {
  const state = useSignal<'idle' | 'held' | 'short'>('idle')
  const timer = useRef<number | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const send = () => {
    clearTimeout(timer.current)
    timer.current = undefined
    state.value = 'idle'
    pressSos()
  }
  const begin = () => {
    clearTimeout(timer.current)
    timer.current = window.setTimeout(send, HOLD_MS)
    state.value = 'held'
  }
  const end = () => {
    if (timer.current === undefined) return
    clearTimeout(timer.current)
    timer.current = undefined
    state.value = 'short'
  }
  const isPress = ({ key }: KeyboardEvent) => key === ' ' || key === 'Enter'
  const handlers = {
    onPointerDown: begin,
    onPointerUp: end,
    onPointerLeave: end,
    onPointerCancel: end,
    onBlur: end,
    // A long press opens a menu on some phones.
    onContextMenu: (event: Event) => event.preventDefault(),
    onKeyDown: (event: KeyboardEvent) => {
      if (!isPress(event)) return
      // Suppress the keyboard's own click: only a screen reader clicks without a press.
      event.preventDefault()
      if (!event.repeat) begin()
    },
    onKeyUp: end,
    onClick: ({ detail }: MouseEvent) => {
      if (detail === 0) state.value = 'short'
    },
  }
  return { state: state.value, handlers, send }
}
