/** The pilgrim was erased elsewhere. What is left on this phone is forgotten when they say so. */
import { words } from '../words.ts'
import { useSignal } from '@preact/signals'
import type { ClientError } from '#shared/client/index.ts'
import { Button } from '../../design/button.tsx'
import { eraseEverything } from '../own-data/erase-everything.ts'
import { notDoneSentence } from '../problem.ts'
import { queue, waiting } from '../session/queue.ts'
import { SaveWaiting } from './waiting.tsx'
import { Notice, View } from './view.tsx'

export function Gone() {
  const { data } = words.value
  const error = useSignal<ClientError | null>(null)
  const busy = useSignal(false)
  const begin = async () => {
    busy.value = true
    error.value = await eraseEverything()
    busy.value = false
  }
  return (
    <View title={data.goneTitle}>
      <Notice kind="warning">{data.goneWhy}</Notice>
      <Rest />
      <p>{data.goneRest}</p>
      {error.value === null ? null : <Notice kind="warning">{notDoneSentence(error.value)}</Notice>}
      <Button kind="primary" busy={busy.value} onClick={() => void begin()}>
        {data.goneStart}
      </Button>
    </View>
  )
}

/** What was recorded and never sent: it can be taken along. */
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
