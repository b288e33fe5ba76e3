import { useSignal } from '@preact/signals'
import { Button } from '../../../design/button.tsx'
import { number } from '../../clock.ts'
import { act } from '../../parts/act.ts'
import { client } from '../../session.ts'
import { fill, words } from '../../words.ts'

/** Flushes the buffer and says what was stored. */
export function FlushNow() {
  const busy = useSignal(false)
  const said = words.value.now
  const flush = async () => {
    busy.value = true
    await act(client.forceFlush({}, { timeoutMs: 40_000 }), ({ finished, stored, dead_letters }) =>
      finished
        ? fill(said.flushed, { stored: number(stored), letters: number(dead_letters) })
        : said.flushing,
    )
    busy.value = false
  }
  return (
    <Button busy={busy.value} onClick={() => void flush()}>
      {said.flushNow}
    </Button>
  )
}
