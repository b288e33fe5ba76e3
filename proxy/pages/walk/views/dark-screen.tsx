/** A black page while recording: saves the battery of a screen that must stay on. */
import { words } from '../words.ts'
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { figure } from '#shared/locales/units.ts'
import { timeText, unitText } from '../format.ts'
import { FIXABLE, positionSentence } from '../problem.ts'
import type { PositionFault } from '../recording/positions.ts'
import { lastFix, positionFault } from '../recording/recorder.ts'
import { recording } from '../session/current-state.ts'
import { now } from '../session/clock.ts'
import { keep, kept } from '../session/stored-signals.ts'
import { profile } from '../session/service.ts'

/** Stored, so that it is dark again if the phone ends the page while recording goes on. */
export const darkScreen = kept('walk-dark', false)

/** Time for the second tap, long enough for an unsteady hand. */
const SECOND_TOUCH_MS = 3_000
/** A third tap of the same hand hits the black page instead of what is below it. */
const LEAVE_AFTER_MS = 400
/** The first tap was made; the second is expected. */
const touched = signal(false)

const time = signal(0)

/** The current time, updated every 15 s while the view is open. */
export function useTime(): number {
  useEffect(() => {
    const read = () => (time.value = now())
    read()
    const timer = setInterval(read, 15_000)
    return () => clearInterval(timer)
  }, [])
  return Math.max(time.value, lastFix.value?.t ?? 0)
}

function stateText(fault: PositionFault | null): string {
  const { darkOn, waiting } = words.value.record
  if (fault === null) return darkOn
  return FIXABLE.has(fault) ? positionSentence(fault) : waiting
}

export function DarkScreen() {
  const element = useRef<HTMLDialogElement>(null)
  const isDark = darkScreen.value && recording.value
  const fault = positionFault.value
  const time = useTime()
  useEffect(() => {
    if (isDark) element.current?.showModal()
    else element.current?.close()
    if (!recording.value) leave()
    touched.value = false
  }, [isDark])
  const leave = () => keep(darkScreen, false)
  const touch = (isPointer: boolean) => {
    if (!isPointer) leave()
    else if (isTouched) setTimeout(leave, LEAVE_AFTER_MS)
    else touched.value = true
  }
  const isTouched = touched.value
  useEffect(() => {
    if (!isTouched) return
    const timer = setTimeout(() => (touched.value = false), SECOND_TOUCH_MS)
    return () => clearTimeout(timer)
  }, [isTouched])
  return (
    <dialog
      ref={element}
      class="dark-screen"
      aria-label={words.value.record.on}
      onClose={leave}
      // Safari styles a touch only if there is a listener.
      onTouchStart={() => undefined}
    >
      <p class="dark-figure">
        {figure(profile.value?.km ?? 0)} <small>{unitText('km')}</small>
      </p>
      <p class="dark-time">{timeText(time)}</p>
      {isDark ? <p>{stateText(fault)}</p> : null}
      {/* One tap is not enough, so that a pocket cannot do it; a keyboard or a screen reader presses once. */}
      <button type="button" aria-live="polite" onClick={({ detail }) => touch(detail > 0)}>
        {isTouched ? words.value.record.darkAgain : words.value.record.darkLeave}
      </button>
    </dialog>
  )
}
