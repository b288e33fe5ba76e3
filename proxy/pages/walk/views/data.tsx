/** The pilgrim's own data: take it along, consent and participation, or have everything deleted. */
import { pageWords } from '../../frame/page-words.ts'
import { words } from '../words.ts'
import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { ClientError } from '#shared/client/index.ts'
import type { WalkWords } from '#shared/locales/words.ts'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { eraseEverything } from '../own-data/erase-everything.ts'
import { saveFile } from '../own-data/save-file.ts'
import { notDoneSentence } from '../problem.ts'
import { client, noteError } from '../session/service.ts'
import { Privacy } from './privacy.tsx'
import { Notice, View } from './view.tsx'

export function OwnData() {
  const { data } = words.value
  const error = useSignal<ClientError | null>(null)
  const saving = useSignal<'json' | 'gpx' | null>(null)
  const save = async (format: 'json' | 'gpx') => {
    saving.value = format
    const accept = format === 'gpx' ? 'application/gpx+xml' : 'application/json'
    const answer = await client.download('exportOwnData', { format }, { accept })
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

/** Everything is deleted, after a question that says what that means. */
function Erase() {
  const { data } = words.value
  const error = useSignal<ClientError | null>(null)
  const asks = useSignal(false)
  const busy = useSignal(false)
  const ask = () => {
    error.value = null
    asks.value = true
  }
  const erase = async () => {
    busy.value = true
    error.value = await eraseEverything()
    busy.value = false
  }
  return (
    <>
      <Button kind="danger" onClick={ask}>
        {data.erase}
      </Button>
      <Sure words={data} asks={asks} busy={busy.value} onErase={() => void erase()}>
        <NotDone error={error.value} />
      </Sure>
    </>
  )
}

/** Beside the button that was pressed. */
const NotDone = ({ error }: { readonly error: ClientError | null }) =>
  error === null ? null : <Notice kind="warning">{notDoneSentence(error)}</Notice>

function Sure(props: {
  readonly words: WalkWords['data']
  readonly asks: Signal<boolean>
  readonly busy: boolean
  readonly onErase: () => void
  readonly children: ComponentChildren
}) {
  const { words, asks, busy, onErase, children } = props
  const close = () => (asks.value = false)
  return (
    <Dialog
      title={words.eraseSure}
      open={asks.value}
      onClose={close}
      closeWord={pageWords.value.close}
      actions={
        <>
          <Button onClick={close}>{pageWords.value.cancel}</Button>
          <Button kind="danger" busy={busy} onClick={onErase}>
            {words.erase}
          </Button>
        </>
      }
    >
      <p>{words.eraseWhy}</p>
      {children}
    </Dialog>
  )
}
