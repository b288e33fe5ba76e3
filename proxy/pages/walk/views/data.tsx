/**
 * The pilgrim's own data: export, consent and participation, and deletion of everything, here or after an
 * erasure elsewhere.
 */
import { words } from '../words.ts'
import { useSignal } from '@preact/signals'
import type { ClientError } from '#shared/client/index.ts'
import { Button } from '../../design/button.tsx'
import { saveFile } from '../own-data/save-file.ts'
import { client, noteError, profile } from '../session/service.ts'
import { Sure } from './confirmation.tsx'
import { NotDone, Notice } from './notice.tsx'
import { View } from './view.tsx'
import { stopRecording } from '../recording/recorder.ts'
import { person, recording } from '../session/current-state.ts'
import { Consent, Sentences } from './welcome.tsx'
import { leave } from '../notifications/web-push.ts'
import { forgetAll } from '../session/stored-signals.ts'
import { keepSosOfOthers, sendSos } from '../emergency/sos.ts'
import { clearQueue, queue, waiting } from '../outbox.ts'
import { SaveWaiting } from './waiting.tsx'
import { agrees, setConsent } from '../session/consent.ts'
import { isCurrentNotice, isNoticeKnown, noticeVersion } from '../session/notice.ts'
import { pageWords } from '../../frame/language.ts'
import { wholeDownload } from '../../frame/whole-download.ts'
import { toldText, useChange } from './use-service.tsx'

export function OwnData() {
  const { data } = words.value
  const error = useSignal<ClientError | null>(null)
  const saving = useSignal<'json' | 'gpx' | null>(null)
  const save = async (format: 'json' | 'gpx') => {
    saving.value = format
    const accept = format === 'gpx' ? 'application/gpx+xml' : 'application/json'
    const answer = await wholeDownload(await client.download('exportOwnData', { format }, { accept }))
    saving.value = null
    error.value = answer.ok ? null : answer.error
    if (answer.ok) await saveFile(answer.data.blob, answer.data.filename ?? `pilgrim.${format}`)
    else noteError(answer.error)
  }
  return (
    <View title={data.title} back>
      <section class="card stack-2">
        <NotDone error={error.value} />
        <Button busy={saving.value === 'json'} onClick={() => void save('json')}>
          {data.json}
        </Button>
        <Button busy={saving.value === 'gpx'} onClick={() => void save('gpx')}>
          {data.gpx}
        </Button>
      </section>
      <Privacy />
      <Erase />
    </View>
  )
}

/**
 * Erases at the service, then on this device.
 * @returns the service's error; the device then keeps its data as well
 */
async function eraseEverything(): Promise<ClientError | null> {
  // Send a pending SOS first.
  await sendSos()
  const answer = await client.eraseOwnData({ confirm: true })
  if (answer.ok) await forgetDevice(answer.data.remaining.length === 0)
  // The service has no data of a pilgrim who was never online, or who was erased on another phone.
  else if (answer.error.code === 'not-found') await forgetDevice(true)
  else {
    noteError(answer.error)
    return answer.error
  }
  return null
}

/** @param complete false: the service is still deleting the last parts */
async function forgetDevice(complete: boolean): Promise<void> {
  stopRecording()
  const others = await keepSosOfOthers()
  await clearQueue(person.value?.userId ?? null)
  await leave()
  await forgetAll(others)
  location.hash = complete ? 'erased' : 'erasing'
  location.reload()
}

function useErasing() {
  const error = useSignal<ClientError | null>(null)
  const busy = useSignal(false)
  const erase = async () => {
    busy.value = true
    error.value = await eraseEverything()
    busy.value = false
  }
  return { error, busy, erase }
}

/** Deletes everything, after a confirmation that explains the consequences. */
function Erase() {
  const { data } = words.value
  const { error, busy, erase } = useErasing()
  const asks = useSignal(false)
  const ask = () => {
    error.value = null
    asks.value = true
  }
  return (
    <>
      <Button kind="danger" onClick={ask}>
        {data.erase}
      </Button>
      <Sure
        asks={asks}
        title={data.eraseSure}
        cancel={pageWords.value.cancel}
        action={data.erase}
        busy={busy.value}
        onSure={() => void erase()}
      >
        <p>{data.eraseWhy}</p>
        <NotDone error={error.value} />
      </Sure>
    </>
  )
}

function Privacy() {
  const { me } = words.value
  const asks = useSignal(false)
  const consent = useChange()
  const part = useChange()
  const { participant_status: status = 'active' } = profile.value ?? {}
  return (
    <>
      <section class="card stack-2">
        <p>{status === 'completed' ? me.completed : status === 'withdrawn' ? me.paused : me.pauseWhy}</p>
        {status === 'withdrawn' && recording.value ? (
          <>
            <p class="strong">{words.value.record.darkOn}</p>
            <Button onClick={stopRecording}>{words.value.record.stop}</Button>
          </>
        ) : null}
        {part.note(me.saved)}
        {status === 'completed' ? null : (
          <Button
            busy={part.busy.value}
            onClick={() =>
              void part.run(() =>
                client.setParticipantStatus({ status: status === 'withdrawn' ? 'active' : 'withdrawn' }),
              )
            }
          >
            {status === 'withdrawn' ? me.rejoin : me.pause}
          </Button>
        )}
      </section>
      <section class="card stack-2">
        <p>{agrees() ? me.agreed(person.value?.privacyVersion ?? noticeVersion.value) : me.withdrawn}</p>
        {agrees() ? null : <NewerConsent />}
        {person.value?.known === false ? (
          <p aria-live="polite">{toldText()}</p>
        ) : (
          consent.note(agrees() && !recording.value ? me.agreedAgain : me.saved)
        )}
        <Button
          busy={consent.busy.value}
          disabled={!agrees() && !isNoticeKnown.value}
          onClick={() => (agrees() ? (asks.value = true) : void consent.keep(() => setConsent(true)))}
        >
          {agrees() ? me.withdraw : me.agreeAgain}
        </Button>
      </section>
      <Sure
        asks={asks}
        title={me.withdrawSure}
        cancel={me.withdrawKeep}
        action={me.withdraw}
        onSure={() => {
          asks.value = false
          void consent.keep(() => setConsent(false))
        }}
      >
        <Sentences of={me.withdrawWhy} />
      </Sure>
    </>
  )
}

/** The new privacy notice, if its version differs from the one agreed to. */
const NewerConsent = () =>
  isCurrentNotice(person.value?.privacyVersion ?? '') ? null : <Consent version={noticeVersion.value} />

/** A notice on the first tab: the pilgrim has paused or withdrawn the consent, and can undo it here. */
export function NotTakingPart() {
  const { me } = words.value
  const change = useChange()
  const { participant_status: status = 'active' } = profile.value ?? {}
  const consented = agrees() || person.value?.privacyVersion === ''
  if (consented && status !== 'withdrawn') return null
  const undo = async () => {
    if (consented) await change.run(() => client.setParticipantStatus({ status: 'active' }))
    else await change.keep(() => setConsent(true))
  }
  return (
    <Notice
      action={
        <>
          {consented ? null : <NewerConsent />}
          {change.note(null)}
          <Button
            busy={change.busy.value}
            disabled={!consented && !isNoticeKnown.value}
            onClick={() => void undo()}
          >
            {consented ? me.rejoin : me.agreeAgain}
          </Button>
        </>
      }
    >
      {consented ? me.paused : me.withdrawn}
    </Notice>
  )
}

/** The pilgrim was erased elsewhere. The data left on this phone are deleted on confirmation. */
export function Gone() {
  const { data } = words.value
  const { error, busy, erase } = useErasing()
  return (
    <View title={data.goneTitle}>
      <Notice kind="warning">{data.goneWhy}</Notice>
      <Rest />
      <p>{data.goneRest}</p>
      <NotDone error={error.value} />
      <Button kind="primary" busy={busy.value} onClick={() => void erase()}>
        {data.goneStart}
      </Button>
    </View>
  )
}

/** Recorded points that were never sent; they can be saved. */
function Rest() {
  const open = queue.value
  const { checkIns = 0, points = 0 } = waiting.value?.waiting ?? {}
  if (open === null || typeof open === 'string' || checkIns + points === 0) return null
  return (
    <section class="card stack-2" data-waiting={checkIns + points}>
      <p>
        <strong>{words.value.queue.waits(checkIns, points)}</strong>
      </p>
      <SaveWaiting queue={open} />
    </section>
  )
}
