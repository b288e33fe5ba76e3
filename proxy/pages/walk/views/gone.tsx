/** The pilgrim was erased elsewhere. Nothing is sent, so that no stray point brings them back. */
import { useSignal } from '@preact/signals'
import type { ClientError } from '#shared/client/index.ts'
import type { WalkWords } from '#shared/locales/walk-words.ts'
import { Button } from '../../design/button.tsx'
import { timeText } from '../format.ts'
import { eraseEverything } from '../own-data/erase-everything.ts'
import { notDoneSentence } from '../problem.ts'
import { queue, waiting } from '../session/queue.ts'
import { now, refreshProfile } from '../session/service.ts'
import { Again } from './again.tsx'
import { SaveWaiting } from './waiting.tsx'
import { Notice, View } from './view.tsx'

/** What is left on this phone is forgotten when the pilgrim says so, because a service that is mended may know them again. */
export function Gone({ words }: { readonly words: WalkWords }) {
  const { data } = words
  const error = useSignal<ClientError | null>(null)
  const busy = useSignal(false)
  const asked = useSignal<string | null>(null)
  const begin = async () => {
    busy.value = true
    error.value = await eraseEverything()
    busy.value = false
  }
  // Where the service knows the pilgrim again, this view is gone.
  const ask = async () => {
    const answer = await refreshProfile()
    const failed = answer !== null && !answer.ok && answer.error.code !== 'not-found'
    asked.value = failed ? notDoneSentence(words, answer.error) : data.goneStill(timeText(now()))
  }
  return (
    <View title={data.goneTitle}>
      <Notice kind="warning">{data.goneWhy}</Notice>
      <Rest words={words} />
      <p>{data.goneRest}</p>
      {error.value === null ? null : <Notice kind="warning">{notDoneSentence(words, error.value)}</Notice>}
      <Button kind="primary" busy={busy.value} onClick={() => void begin()}>
        {data.goneStart}
      </Button>
      <Again ask={ask}>{words.retry}</Again>
      <p aria-live="polite">{asked.value}</p>
    </View>
  )
}

/** What was recorded and never sent: it can be taken along. */
function Rest({ words }: { readonly words: WalkWords }) {
  const open = queue.value
  const { checkIns = 0, points = 0 } = waiting.value?.waiting ?? {}
  if (open === null || typeof open === 'string' || checkIns + points === 0) return null
  return (
    <section class="card stack-2" data-waiting={checkIns + points}>
      <p>
        <strong>{words.queue.waits(checkIns, points)}</strong>
      </p>
      <SaveWaiting words={words} queue={open} />
    </section>
  )
}
