/** The pilgrim was erased elsewhere. Nothing is sent, so that no stray point brings them back. */
import { useSignal } from '@preact/signals'
import type { ClientError } from '#shared/client/index.ts'
import type { WalkWords } from '#shared/locales/walk-words.ts'
import { Button } from '../../design/button.tsx'
import { eraseEverything } from '../own-data/erase-everything.ts'
import { sentenceOf } from '../problem.ts'
import { refreshProfile } from '../session/service.ts'
import { Notice, View } from './view.tsx'

/** What is left on this phone is forgotten when the pilgrim says so, because a service that is mended may know them again. */
export function Gone({ words }: { readonly words: WalkWords }) {
  const { data } = words
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
      <p>{data.goneRest}</p>
      {error.value === null ? null : <Notice kind="warning">{sentenceOf(words, error.value)}</Notice>}
      <Button kind="primary" busy={busy.value} onClick={() => void begin()}>
        {data.goneStart}
      </Button>
      <Button onClick={() => void refreshProfile()}>{words.retry}</Button>
    </View>
  )
}
