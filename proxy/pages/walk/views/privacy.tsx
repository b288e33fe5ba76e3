/** Consent and participation: given, taken back, given again. */
import type { WalkWords } from '#shared/locales/walk-words.ts'
import { Button } from '../../design/button.tsx'
import { stopRecording } from '../recording/recorder.ts'
import { keep } from '../session/kept.ts'
import { person } from '../session/person.ts'
import { client, config, profile } from '../session/service.ts'
import { useChange } from './use-change.tsx'

export function Privacy({ words }: { readonly words: WalkWords }) {
  const { me } = words
  const consent = useChange(words)
  const part = useChange(words)
  const { privacy_agreed: agrees = true, participant_status: status = 'active' } = profile.value ?? {}
  const version = config.value?.privacy_version ?? ''
  const agree = async (agreed: boolean) => {
    const answer = await consent.run(() => client.setPrivacy({ agreed, version }))
    if (answer === null || person.value === null) return
    if (agreed) keep(person, { ...person.value, privacyVersion: version })
    else stopRecording()
  }
  const setStatus = (next: 'active' | 'withdrawn') =>
    part.run(() => client.setParticipantStatus({ status: next }))
  return (
    <>
      <section class="card stack-2">
        <h2>{me.privacy}</h2>
        <p>{agrees ? me.agreed(person.value?.privacyVersion ?? version) : me.withdrawn}</p>
        {consent.said(me.saved)}
        <Button busy={consent.busy.value} onClick={() => void agree(!agrees)}>
          {agrees ? me.withdraw : me.agreeAgain}
        </Button>
      </section>
      <section class="card stack-2">
        <h2>{me.participation}</h2>
        <p>{status === 'completed' ? me.completed : status === 'withdrawn' ? me.paused : me.pauseWhy}</p>
        {part.said(me.saved)}
        {status === 'completed' ? null : (
          <Button
            busy={part.busy.value}
            onClick={() => void setStatus(status === 'withdrawn' ? 'active' : 'withdrawn')}
          >
            {status === 'withdrawn' ? me.rejoin : me.pause}
          </Button>
        )}
      </section>
    </>
  )
}
