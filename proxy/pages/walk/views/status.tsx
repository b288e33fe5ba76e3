/**
 * Notices that concern the whole app, above every view: the event's status, the clock, the log-in, a new
 * version.
 */
import { words } from '../words.ts'
import { useRef } from 'preact/hooks'
import type { WalkWords } from '#shared/locales/words.ts'
import { Button } from '../../design/button.tsx'
import { showToast } from '../../design/toast.tsx'
import { leaveLine } from '../session/line-login.ts'
import { sendKept } from '../outbox.ts'
import { sentenceOf } from '../problem.ts'
import { restoreAddress } from '../recovery/app-id.ts'
import { person, signInNeeded } from '../session/current-state.ts'
import { clockAheadMs, clockIsWrong } from '../session/clock.ts'
import { config, signInAgain, usesLine } from '../session/service.ts'
import { notKept } from '../session/stored-signals.ts'
import { updateReady } from '../session/update.ts'
import { Consent } from './welcome.tsx'
import { Notice } from './notice.tsx'
import { agrees, setConsent } from '../session/consent.ts'
import { isCurrentNotice, isNoticeKnown, noticeVersion } from '../session/notice.ts'
import { show } from '../route.ts'
import { language, pageWords } from '../../frame/language.ts'
import { useTime } from './dark-screen.tsx'
import { SosOutcome } from './sos.tsx'
import { useChange } from './use-service.tsx'

export function Status() {
  const { status, problems } = words.value
  return (
    <div class="stack-2 status">
      <SosOutcome />
      <Rehearsal />
      <EventStatus />
      <SignIn words={problems} />
      {notKept.value ? (
        <Notice
          kind="danger"
          action={
            usesLine.value ? null : (
              <Button onClick={() => show('code')}>{words.value.recovery.remindButton}</Button>
            )
          }
        >
          {problems.storage} {usesLine.value ? null : words.value.recovery.remind}
        </Notice>
      ) : null}
      {clockIsWrong.value ? (
        <Notice kind="warning">
          {status.clock(Math.round(Math.abs(clockAheadMs.value) / 60_000), clockAheadMs.value > 0)}
        </Notice>
      ) : null}
      {updateReady.value ? (
        <Notice action={<Button onClick={() => location.reload()}>{status.updateButton}</Button>}>
          {status.update}
        </Notice>
      ) : null}
      <OutsideLine />
    </div>
  )
}

/** Leaves LINE's own browser. With open identity the walk is transferred as to another phone. */
export function OutsideLine() {
  const { outsideLine, outsideLineButton, inLine } = words.value.status
  const leave = leaveLine()
  if (leave === null) return null
  const userId = usesLine.value ? undefined : person.value?.userId
  const open = async () => {
    await sendKept().catch(() => null)
    leave(userId === undefined ? location.href : restoreAddress(userId))
  }
  return (
    <Notice action={<Button onClick={() => void open()}>{outsideLineButton}</Button>}>
      {usesLine.value ? outsideLine : inLine}
    </Notice>
  )
}

/** The event's name during a rehearsal, which identifies it as one. */
function Rehearsal() {
  const event = config.value
  return event?.rehearsal === true ? (
    <Notice kind="warning">{event.names?.[language.value] ?? event.name}</Notice>
  ) : null
}

/** How long it is told that the event goes on. */
const RESUMED_MS = 600_000

export function EventStatus() {
  const event = config.value
  const time = useTime()
  const wasPaused = useRef(false)
  /** When the pause that was shown ended (epoch ms). */
  const resumedMs = useRef<number | null>(null)
  if (event?.status === 'paused') wasPaused.current = true
  else if (event?.status === 'active' && wasPaused.current) {
    wasPaused.current = false
    resumedMs.current = time
  }
  if (event?.status === 'active' && resumedMs.current !== null && time - resumedMs.current < RESUMED_MS)
    return <Notice>{words.value.status.resumed}</Notice>
  if (event?.status !== 'paused' && event?.status !== 'ended') return null
  const message = event.messages?.[language.value] ?? event.messages?.['en'] ?? event.message
  return (
    <Notice kind={event.status === 'paused' ? 'warning' : undefined}>
      {message === null ? null : (
        <>
          <span class="small quiet">{pageWords.value.organisers}</span>
          <strong class="message">{message}</strong>
        </>
      )}
      {sentenceOf({ code: event.status })}
    </Notice>
  )
}

/** The LINE token has expired: nothing is sent until the pilgrim logs in again. */
function SignIn({ words }: { readonly words: WalkWords['problems'] }) {
  if (!signInNeeded.value) return null
  const signIn = async () => {
    if (!(await signInAgain())) showToast(words.notDone.offline, { forMs: 8_000, warning: true })
  }
  return (
    <Notice
      kind="danger"
      action={
        <Button kind="primary" onClick={() => void signIn()}>
          {words.signInButton}
        </Button>
      }
    >
      {words.signIn}
    </Notice>
  )
}

/**
 * Asks to agree to a new privacy notice; the walk goes on meanwhile. Declining withdraws the consent, and is
 * not asked again.
 */
export function NewConsent() {
  const decline = useChange()
  const given = person.value
  if (config.value === null || given === null || isCurrentNotice(given.privacyVersion)) return null
  const isFirst = given.privacyVersion === ''
  if (!isFirst && !agrees()) return null
  return (
    <section class="stack view">
      <p class="strong">{isFirst ? words.value.welcome.consentHere : words.value.welcome.newConsent}</p>
      <Consent version={noticeVersion.value} />
      <Button kind="primary" disabled={!isNoticeKnown.value} onClick={() => void setConsent(true)}>
        {words.value.welcome.agree}
      </Button>
      {isFirst ? null : (
        <>
          {decline.note(null)}
          <Button busy={decline.busy.value} onClick={() => void decline.keep(() => setConsent(false))}>
            {words.value.welcome.disagree}
          </Button>
        </>
      )}
    </section>
  )
}
