/** The frame of a view: a heading that takes the focus, and the way back. */
import { Button } from '../../design/button.tsx'
import { goBack } from '../route.ts'
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

interface ViewProps {
  readonly title: ComponentChildren
  readonly back?: string
  readonly children: ComponentChildren
}

export const View = ({ title, back, children }: ViewProps) => (
  <main class="view stack">
    {back === undefined ? null : (
      <div>
        <Button kind="plain" onClick={goBack}>
          ‹ {back}
        </Button>
      </div>
    )}
    <h1 tabIndex={-1}>{title}</h1>
    {children}
  </main>
)

/** A sentence about something that went wrong or needs attention; screen readers read it out. */
export const Notice = (props: {
  readonly kind?: 'warning' | 'danger'
  readonly children: ComponentChildren
  readonly action?: ComponentChildren
}) => (
  <div class={['notice', props.kind].filter(Boolean).join(' ')} aria-live="polite">
    <div class="stack-2">
      <p>{props.children}</p>
      {props.action}
    </div>
  </div>
)

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
