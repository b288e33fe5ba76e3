/** Notices, and the buttons to try again that they offer. */
import { Button } from '../../design/button.tsx'
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { notDoneSentence, type Problem } from '../problem.ts'
import { words } from '../words.ts'

/** A sentence about something that went wrong or needs attention; screen readers read it out. */
export const Notice = (props: {
  readonly kind?: 'warning' | 'danger' | undefined
  readonly children: ComponentChildren
  readonly action?: ComponentChildren
  /** `off`: something else reads it out. */
  readonly live?: 'off'
}) => (
  <div class={['notice', props.kind].filter(Boolean).join(' ')} aria-live={props.live ?? 'polite'}>
    <div class="stack-2">
      <p>{props.children}</p>
      {props.action}
    </div>
  </div>
)

/** Why an action failed, next to its button. */
export const NotDone = (props: {
  readonly error: Problem | null | undefined
  readonly action?: ComponentChildren
}) =>
  props.error ? (
    <Notice kind="warning" action={props.action}>
      {notDoneSentence(props.error)}
    </Notice>
  ) : null

/**
 * A script of the view could not be loaded: there was no network before the phone had cached all files. Many
 * browsers load a failed script again only after a reload.
 */
export const NotLoaded = () => (
  <Notice kind="warning" action={<Button onClick={() => location.reload()}>{words.value.retry}</Button>}>
    {notDoneSentence({ code: 'network' })}
  </Notice>
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
