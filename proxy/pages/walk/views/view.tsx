/** The frame of a view: a heading that takes the focus, and the way back. */
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { pageWords } from '../../frame/language.ts'
import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { BackBar } from './tabs.tsx'
import { notDoneSentence, type Problem } from '../problem.ts'
import { readFromTop } from '../route.ts'
import { words } from '../words.ts'

interface ViewProps {
  readonly title: ComponentChildren
  /** It is behind a tab, or behind the first page. */
  readonly back?: boolean
  /** The one thing to do in a long view: a button that stays in reach, beside the way back. */
  readonly action?: ComponentChildren
  /** Another one is another content, which is read from its top, not from where the button before it was. */
  readonly step?: unknown
  readonly children: ComponentChildren
}

export function View({ title, back, action, step, children }: ViewProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const was = useRef(step)
  useEffect(() => {
    if (step === was.current) return
    was.current = step
    readFromTop(heading.current)
  }, [step])
  return (
    <>
      <main class="view stack">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children}
      </main>
      {back === true ? <BackBar>{action}</BackBar> : null}
    </>
  )
}

/** A sentence about something that went wrong or needs attention; screen readers read it out. */
export const Notice = (props: {
  readonly kind?: 'warning' | 'danger' | undefined
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

/** Why something was not done, beside what was pressed. */
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
 * A script of the view could not be loaded: the first minute, before the phone keeps all files, and no network. Many
 * browsers load a script that has failed only after the page is loaded anew.
 */
export const NotLoaded = () => (
  <Notice kind="warning" action={<Button onClick={() => location.reload()}>{words.value.retry}</Button>}>
    {notDoneSentence({ code: 'network' })}
  </Notice>
)

/** Asks once, and says what happens then. @param action absent: there is nothing to be sure of */
export function Sure(props: {
  readonly asks: Signal<boolean>
  readonly title: string
  readonly cancel: string
  readonly action: string | null
  readonly busy?: boolean
  readonly onSure: () => void
  readonly children: ComponentChildren
}) {
  const { asks, title, cancel, action, busy = false, onSure, children } = props
  const close = () => (asks.value = false)
  return (
    <Dialog
      title={title}
      open={asks.value}
      onClose={close}
      closeWord={pageWords.value.close}
      actions={
        <>
          <Button onClick={close}>{cancel}</Button>
          {action === null ? null : (
            <Button kind="danger" busy={busy} onClick={onSure}>
              {action}
            </Button>
          )}
        </>
      }
    >
      {children}
    </Dialog>
  )
}

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
