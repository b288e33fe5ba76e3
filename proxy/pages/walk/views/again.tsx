/** A button that asks the service again. It turns long enough to be seen, also where the answer comes at once. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Button } from '../../design/button.tsx'

const SEEN_MS = 600

export function Again(props: { readonly children: ComponentChildren; readonly ask: () => Promise<unknown> }) {
  const busy = useSignal(false)
  const ask = async () => {
    busy.value = true
    try {
      await Promise.all([props.ask(), new Promise((resolve) => setTimeout(resolve, SEEN_MS))])
    } finally {
      busy.value = false
    }
  }
  return (
    <Button busy={busy.value} onClick={() => void ask()}>
      {props.children}
    </Button>
  )
}
