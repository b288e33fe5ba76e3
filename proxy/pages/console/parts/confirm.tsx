/** A question before something that others notice. What cannot be undone is typed. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { Answer, ClientError } from '#shared/client/index.ts'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { reloadAll } from '../resource.ts'
import { fill, words } from '../words.ts'
import { refusalOf } from './panel.tsx'

export interface ConfirmProps<T> {
  readonly title: string
  readonly open: boolean
  readonly onClose: () => void
  readonly button: string
  readonly danger?: boolean
  /** The operator types this first. */
  readonly typed?: string
  /** Not yet possible. */
  readonly disabled?: boolean
  readonly run: () => Promise<Answer<T>>
  /** Called with the answer, after everything on the page was read again. */
  readonly onDone?: (data: T) => void
  readonly children?: ComponentChildren
}

export function Confirm<T>(props: ConfirmProps<T>) {
  const { title, open, onClose, typed, disabled = false, children } = props
  const text = useSignal('')
  const busy = useSignal(false)
  const problem = useSignal<ClientError | null>(null)
  const close = () => {
    text.value = ''
    problem.value = null
    onClose()
  }
  const run = async () => {
    busy.value = true
    const answer = await props.run()
    busy.value = false
    if (!answer.ok) {
      problem.value = answer.error
      return
    }
    close()
    await reloadAll()
    props.onDone?.(answer.data)
  }
  const ready = !disabled && (typed === undefined || text.value.trim() === typed)
  const actions = (
    <Actions {...props} ready={ready} busy={busy.value} onCancel={close} onRun={() => void run()} />
  )
  return (
    <Dialog title={title} open={open} onClose={close} closeWord={words.value.common.close} actions={actions}>
      {children}
      {typed === undefined ? null : (
        <Typed typed={typed} value={text.value} onInput={(value) => (text.value = value)} />
      )}
      <p role="alert" class="problem">
        {problem.value === null ? null : refusalOf(problem.value)}
      </p>
    </Dialog>
  )
}

interface ActionsProps {
  readonly button: string
  readonly danger?: boolean
  readonly ready: boolean
  readonly busy: boolean
  readonly onCancel: () => void
  readonly onRun: () => void
}

const Actions = ({ button, danger = false, ready, busy, onCancel, onRun }: ActionsProps) => (
  <>
    <Button onClick={onCancel}>{words.value.common.cancel}</Button>
    <Button kind={danger ? 'danger' : 'primary'} disabled={!ready} busy={busy} onClick={onRun}>
      {button}
    </Button>
  </>
)

interface TypedProps {
  readonly typed: string
  readonly value: string
  readonly onInput: (value: string) => void
}

const Typed = ({ typed, value, onInput }: TypedProps) => (
  <label class="field">
    <span>{fill(words.value.common.typeToConfirm, { text: typed })}</span>
    <input
      type="text"
      autocomplete="off"
      spellcheck={false}
      value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  </label>
)
