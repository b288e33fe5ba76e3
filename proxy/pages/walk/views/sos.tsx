/**
 * The SOS button in the bar, held for two seconds by finger, mouse or keyboard, and the state of each press.
 */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Button } from '../../design/button.tsx'
import { pageWords } from '../../frame/language.ts'
import { canSendSos, forgetSos, isCurrent, pressSos, shownPresses, sosError } from '../emergency/sos.ts'
import { type SosPress, stateOf } from '../emergency/sos-press.ts'
import { timeText } from '../format.ts'
import { sentenceOf } from '../problem.ts'
import { words } from '../words.ts'
import { EmergencyNumbers } from './emergency.tsx'
import { Sure } from './confirmation.tsx'
import { Notice } from './notice.tsx'

const HOLD_MS = 2_000

export function SosButton() {
  const messages = words.value.emergency
  const { isHeld, asks, handlers, send } = useHold()
  const canSend = canSendSos()
  const [latest] = shownPresses()
  return (
    <>
      <button type="button" class={isHeld ? 'sos-button held' : 'sos-button'} {...handlers}>
        {messages.sos}
        <span class="visually-hidden"> {messages.hold}</span>
      </button>
      <div aria-live="polite" class="sos-said">
        {isHeld ? <p>{messages.holding}</p> : null}
        {!isHeld && latest ? <span class="visually-hidden">{sentenceFor(latest)}</span> : null}
      </div>
      <Sure
        asks={asks}
        title={messages.sos}
        cancel={pageWords.value[canSend ? 'cancel' : 'close']}
        action={canSend ? messages.now : null}
        onSure={send}
      >
        <p>{canSend ? messages.short : messages.noWalk}</p>
        <EmergencyNumbers />
      </Sure>
    </>
  )
}

/** State of the presses, and whom to call meanwhile. The button's live region announces the first. */
export function SosOutcome() {
  const pressed = shownPresses()
  if (pressed.length === 0) return null
  return (
    <>
      {pressed.map((press) => (
        <PressNotice key={press.pressedMs} press={press} />
      ))}
      <Notice action={<EmergencyNumbers />}>{words.value.emergency.faster}</Notice>
    </>
  )
}

function sentenceFor(press: SosPress): string {
  const { emergency } = words.value
  const error = sosError(press)
  const { pressedMs, sentMs, seenMs } = press
  const sentence = {
    waits: error === null ? emergency.sending : emergency.waits,
    'other-account': emergency.otherAccount,
    refused: emergency.refused,
    sent: emergency.sent,
    unalerted: emergency.unalerted,
    seen: emergency.seen,
  }[stateOf(press, error)]
  return sentence(timeText(seenMs ?? sentMs ?? pressedMs))
}

function PressNotice({ press }: { readonly press: SosPress }) {
  const { emergency } = words.value
  const error = sosError(press)
  const state = stateOf(press, error)
  const isOver = state === 'other-account' || state === 'refused'
  return (
    <Notice
      live="off"
      kind={state === 'seen' ? undefined : 'danger'}
      action={isOver ? <Button onClick={() => forgetSos(press)}>{emergency.forget}</Button> : null}
    >
      {isCurrent(press) || press.name === undefined ? null : (
        <span class="small quiet block">{press.name}</span>
      )}
      <strong data-sos={state}>{sentenceFor(press)}</strong>
      {state === 'waits' && error !== null && error.status !== 0 ? ` ${sentenceOf(error)}` : null}
    </Notice>
  )
}

/**
 * A long press. One that is too short opens a dialog, for screen readers and switch devices, which cannot
 * hold.
 */
function useHold() {
  const isHeld = useSignal(false)
  const asks = useSignal(false)
  const timer = useRef<number | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const release = () => {
    clearTimeout(timer.current)
    timer.current = undefined
    isHeld.value = false
  }
  const send = () => {
    release()
    asks.value = false
    pressSos()
    // The state of the press is at the top of every view.
    scrollTo(0, 0)
  }
  const begin = () => {
    clearTimeout(timer.current)
    const canSend = canSendSos()
    // Without a walk the dialog opens when the finger is lifted, not under it.
    timer.current = canSend ? window.setTimeout(send, HOLD_MS) : 0
    isHeld.value = canSend
  }
  const end = () => {
    if (timer.current === undefined) return
    release()
    asks.value = true
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
      if (detail === 0) asks.value = true
    },
  }
  return { isHeld: isHeld.value, asks, handlers, send }
}
