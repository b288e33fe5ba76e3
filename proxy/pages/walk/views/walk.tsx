/** The first tab: check in, record, and pending data. */
import { words } from '../words.ts'
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Button } from '../../design/button.tsx'
import { checkIn, checkInFault, checkingIn } from '../checkin/check-in.ts'
import { roughText, timeText } from '../format.ts'
import { positionSentence } from '../problem.ts'
import { show } from '../route.ts'
import { codeIsSafe, consentWithdrawn, person, recording, signInNeeded } from '../session/current-state.ts'
import { lastCheckIn, totalCheckIns } from '../outbox.ts'
import { config, hasEnded, profile, usesLine } from '../session/service.ts'
import { darkScreen, useTime } from './dark-screen.tsx'
import { Notice } from './notice.tsx'
import { View } from './view.tsx'
import { Record } from './record.tsx'
import { Waiting } from './waiting.tsx'
import { Level } from './level.tsx'
import { NextOfAll } from './stations.tsx'
import { NotTakingPart } from './data.tsx'
import { KeptCard } from './me.tsx'
import { pageWords } from '../../frame/language.ts'

export const Walk = () => (hasEnded() ? <AfterEnd /> : <OnTheWay />)

/** The event has ended: the pilgrim's result, to keep and to show. */
const AfterEnd = () => (
  <View title={person.value?.name ?? ''}>
    <Level checkIns={totalCheckIns.value} />
    <NotTakingPart />
    <Said />
    <KeptCard />
    <Waiting />
    <RecoveryReminder />
  </View>
)

const OnTheWay = () => {
  return (
    <View title={person.value?.name ?? ''}>
      <Level checkIns={totalCheckIns.value} />
      <NotTakingPart />
      <CheckIn />
      <Record />
      <NextOfAll />
      <Waiting />
      <a class="button" href="/">
        {pageWords.value.where(pageWords.value.followed[config.value?.followed ?? 'procession'])}
      </a>
      {recording.value ? <p class="quiet">{words.value.record.mapPauses}</p> : null}
      <RecoveryReminder />
    </View>
  )
}

const RecoveryReminder = () =>
  codeIsSafe.value || usesLine.value || !hasWalked() ? null : (
    <Notice action={<Button onClick={() => show('code')}>{words.value.recovery.remindButton}</Button>}>
      {words.value.recovery.remind}
    </Notice>
  )

/** Whether there is a walk to lose. */
const hasWalked = (): boolean => totalCheckIns.value > 0 || (profile.value?.km ?? 0) > 0

/**
 * How long a counted check-in is shown while the app is visible. Then the recording state and its button take
 * its place.
 */
const TOLD_MS = 10_000
/** How long the seal shows the check-in. Another one within this time counts as the same. */
const STAMPED_MS = 60_000

const PIN =
  'M12 2a7 7 0 0 1 7 7c0 5-7 13-7 13S5 14 5 9a7 7 0 0 1 7-7zm0 4.500a2.500 2.500 0 1 0 0 5 2.500 2.500 0 0 0 0-5z'
const TICK = 'M9.500 18.500l-6-6 2.300-2.300 3.700 3.700 8.700-8.700 2.300 2.300z'

function CheckIn() {
  const last = lastCheckIn.value
  const time = useTime()
  const isStamped = last !== null && !checkingIn.value && time - last.t < STAMPED_MS
  const fault = checkInFault.value
  const answer = useRef<HTMLDivElement>(null)
  // The seal shows that a check-in counts, but neither a fault nor that it waits.
  const waits = !checkingIn.value && last?.state === 'kept' ? last.t : null
  useEffect(() => {
    if (fault !== null || waits !== null) answer.current?.scrollIntoView({ block: 'nearest' })
  }, [fault, waits])
  return (
    <section class="check-in stack-2">
      <button
        type="button"
        class={isStamped ? 'big-button stamped' : 'big-button'}
        aria-busy={checkingIn.value}
        disabled={consentWithdrawn.value}
        onClick={() => void checkIn()}
      >
        <span aria-hidden="true" class="bell">
          <svg viewBox="0 0 24 24">
            <path d={isStamped ? TICK : PIN} />
          </svg>
        </span>
        {checkingIn.value ? words.value.checkIn.busy : words.value.checkIn.button}
        {isStamped ? <small aria-hidden="true">{timeText(last.t)}</small> : null}
      </button>
      <div ref={answer} aria-live="polite" class="check-in-said">
        <Said />
      </div>
    </section>
  )
}

function Said() {
  const fault = checkInFault.value
  const last = lastCheckIn.value
  useTelling(last)
  if (fault !== null && !hasEnded()) {
    const why = fault === 'closed' ? words.value.record.causes.closed : positionSentence(fault)
    return <p class="wrong">{words.value.checkIn.failed(why)}</p>
  }
  if (last === null || checkingIn.value || last === toldCheckIn.value) return null
  const { t, accuracy, state, inRange, clockCorrected } = last
  if (state === 'kept' && hasEnded()) return <p class="strong">{words.value.checkIn.keptAfterEnd}</p>
  const { checkIn, queue } = words.value
  const counts = state === 'counted' && inRange
  const rough = inRange ? roughText(words.value, accuracy) : null
  return (
    <>
      <p class={counts ? 'good strong' : 'strong'} data-state={state}>
        <span aria-hidden="true">✓ </span>
        {(inRange ? checkIn[state] : checkIn.outside)(timeText(t))}{' '}
        {state === 'counted' || signInNeeded.value
          ? null
          : consentWithdrawn.value
            ? queue.afterConsent
            : queue.safe}
      </p>
      {rough === null ? null : <p class="quiet">{rough}</p>}
      {clockCorrected ? <p>{checkIn.corrected}</p> : null}
    </>
  )
}

/** The check-in that has been shown as counted. */
const toldCheckIn = signal<typeof lastCheckIn.value>(null)

/**
 * Notes that a check-in was shown as counted, once it was visible for long enough. One that did not count
 * stays.
 */
function useTelling(last: typeof lastCheckIn.value): void {
  const isPlain = last?.state === 'counted' && last.inRange && !last.clockCorrected
  const isDark = darkScreen.value
  useEffect(() => {
    if (!isPlain || isDark) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      clearTimeout(timer)
      if (document.visibilityState === 'visible')
        timer = setTimeout(() => (toldCheckIn.value = last), TOLD_MS)
    }
    look()
    document.addEventListener('visibilitychange', look)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', look)
    }
  }, [last, isPlain, isDark])
}
