/** Consent and participation: given, taken back, given again. */
import { pageWords } from '../../frame/page-words.ts'
import { words } from '../words.ts'
import { type Signal, useSignal } from '@preact/signals'
import type { WalkWords } from '#shared/locales/words.ts'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { setConsent, setParticipation } from '../own-data/participation.ts'
import { recording } from '../recording/recorder.ts'
import { person } from '../session/person.ts'
import { config, profile } from '../session/service.ts'
import { useChange } from './use-change.tsx'
import { Notice } from './view.tsx'
import { Consent } from './welcome.tsx'

export function Privacy() {
  const { me } = words.value
  const asks = useSignal(false)
  const consent = useChange()
  const part = useChange()
  const { privacy_agreed: agrees = true, participant_status: status = 'active' } = profile.value ?? {}
  const version = config.value?.privacy_version ?? ''
  return (
    <>
      <section class="card stack-2">
        <p>{status === 'completed' ? me.completed : status === 'withdrawn' ? me.paused : me.pauseWhy}</p>
        {status === 'withdrawn' && recording.value ? <p class="strong">{words.value.record.darkOn}</p> : null}
        {part.said(me.saved)}
        {status === 'completed' ? null : (
          <Button
            busy={part.busy.value}
            onClick={() =>
              void part.run(() => setParticipation(status === 'withdrawn' ? 'active' : 'withdrawn'))
            }
          >
            {status === 'withdrawn' ? me.rejoin : me.pause}
          </Button>
        )}
      </section>
      <section class="card stack-2">
        <p>{agrees ? me.agreed(person.value?.privacyVersion ?? version) : me.withdrawn}</p>
        {agrees ? null : <NewerConsent />}
        {consent.said(agrees && !recording.value ? me.agreedAgain : me.saved)}
        <Button
          busy={consent.busy.value}
          onClick={() => (agrees ? (asks.value = true) : void consent.run(() => setConsent(true)))}
        >
          {agrees ? me.withdraw : me.agreeAgain}
        </Button>
      </section>
      <Withdraw
        words={me}
        asks={asks}
        onWithdraw={() => {
          asks.value = false
          void consent.run(() => setConsent(false))
        }}
      />
    </>
  )
}

/** Asks once, and says what happens then. */
function Withdraw(props: {
  readonly words: WalkWords['me']
  readonly asks: Signal<boolean>
  readonly onWithdraw: () => void
}) {
  const { words, asks, onWithdraw } = props
  const close = () => (asks.value = false)
  return (
    <Dialog
      title={words.withdrawSure}
      open={asks.value}
      onClose={close}
      closeWord={pageWords.value.close}
      actions={
        <>
          <Button onClick={close}>{words.withdrawKeep}</Button>
          <Button kind="danger" onClick={onWithdraw}>
            {words.withdraw}
          </Button>
        </>
      }
    >
      <ul class="sentences">
        {words.withdrawWhy.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </Dialog>
  )
}

/** What would be agreed to, where it is not what was agreed to before. */
function NewerConsent() {
  const version = config.value?.privacy_version ?? ''
  return person.value?.privacyVersion === version ? null : <Consent version={version} />
}

/** On the first tab: the pilgrim has paused or taken back the consent, and can undo it here. */
export function NotTakingPart() {
  const { me } = words.value
  const change = useChange()
  const { privacy_agreed: agrees = true, participant_status: status = 'active' } = profile.value ?? {}
  // Before the service knows the consent, it has none.
  const consented = agrees || !person.value?.known || person.value.privacyVersion === ''
  if (consented && status !== 'withdrawn') return null
  const undo = async () => {
    if (consented) await change.run(() => setParticipation('active'))
    else await change.run(() => setConsent(true))
  }
  return (
    <Notice
      action={
        <>
          {consented ? null : <NewerConsent />}
          {change.said(null)}
          <Button busy={change.busy.value} onClick={() => void undo()}>
            {consented ? me.rejoin : me.agreeAgain}
          </Button>
        </>
      }
    >
      {consented ? me.paused : me.withdrawn}
    </Notice>
  )
}
