/** Actions: their effect is read back from the service before they count as done. */
import type { Answer, ClientError, Data } from '#shared/client/index.ts'
import { showToast, type ToastOptions } from '../../design/toast.tsx'
import { reloadAll } from '../resource.ts'
import { refusalOf } from './panel.tsx'
import { type ReadonlySignal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import { Button } from '../../design/button.tsx'
import { Field } from './fields.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { pair, words } from '../words.ts'
import { client } from '../session.ts'
import { pageWords } from '../../frame/language.ts'

const SHOWN_MS = 8_000

/** Shows why an action was rejected. For the rate limit it counts down, and disappears at zero. */
export function warn(error: ClientError, sentence: (error: ClientError) => string): void {
  // The session has ended; the sign-in page explains it.
  if (error.status === 401) return
  const forMs = (error.retryAfter ?? 0) * 1_000
  if (error.status === 429 && forMs > 0) showToast(() => sentence(error), { warning: true, forMs })
  else showToast(sentence(error), { warning: true })
}

/** Reads the page's data again after an action was done, or was rejected because of another change. */
const reread = async (answer: Answer<unknown>): Promise<void> => {
  if (answer.ok || answer.error.status === 409) await reloadAll()
}

/**
 * Runs an action, reads the page's data again, and shows the service's answer.
 * @param more options of the toast, such as an undo action
 * @returns the answer's data; null if it was rejected, which is shown
 */
export async function act<T>(
  call: Promise<Answer<T>>,
  message?: (data: T) => string,
  more?: (data: T) => Pick<ToastOptions, 'action' | 'group'>,
): Promise<T | null> {
  const answer = await call
  await reread(answer)
  if (!answer.ok) {
    warn(answer.error, refusalOf)
    return null
  }
  if (message !== undefined) showToast(message(answer.data), { forMs: SHOWN_MS, ...more?.(answer.data) })
  return answer.data
}

/**
 * Saves a form, once at a time. What is typed during the save stays in the form.
 * @param typed another value after each change
 * @param save returns whether it was saved; a further save then replaces what was stored
 * @param clear empties or closes the form
 */
export function useSave<D>(
  typed: ReadonlySignal<D>,
  save: (sent: D) => Promise<boolean>,
  clear: () => void,
): { readonly busy: boolean; readonly submit: () => Promise<void> } {
  const busy = useSignal(false)
  const submit = async () => {
    if (busy.peek()) return
    busy.value = true
    try {
      const sent = typed.peek()
      if ((await save(sent)) && typed.peek() === sent) clear()
    } finally {
      busy.value = false
    }
  }
  return { busy: busy.value, submit }
}

/** The operator's input once typing pauses. @param typingMs length of the pause */
export function useSettled<T>(typed: T, typingMs = 300): T {
  const settled = useSignal(typed)
  useEffect(() => {
    const timer = setTimeout(() => (settled.value = typed), typingMs)
    return () => clearTimeout(timer)
  }, [typed, typingMs, settled])
  return settled.value
}

// A confirmation before an action that others notice. Irreversible actions require typing.

interface ConfirmProps<T> {
  readonly title: string
  readonly open: boolean
  readonly onClose: () => void
  readonly button: string
  readonly danger?: boolean
  /** The operator must type one of these; the first is shown. */
  readonly typed?: readonly string[]
  /** Not possible yet. */
  readonly disabled?: boolean
  readonly run: () => Promise<Answer<T>>
  /** Clears what was sent; called before anything else can be typed. */
  readonly clear?: () => void
  /** Called with the answer, after all data of the page were read again. */
  readonly onDone?: (data: T) => void
  readonly children?: ComponentChildren
}

export function Confirm<T>(props: ConfirmProps<T>) {
  const { title, open, onClose, button, danger = false, typed, disabled = false, children } = props
  const text = useSignal('')
  const busy = useSignal(false)
  const problem = useSignal<ClientError | null>(null)
  useEffect(() => {
    text.value = ''
    problem.value = null
  }, [open, text, problem])
  const close = () => {
    if (!busy.peek()) onClose()
  }
  const run = async () => {
    busy.value = true
    problem.value = null
    const answer = await props.run()
    busy.value = false
    if (answer.ok) {
      props.clear?.()
      onClose()
    } else problem.value = answer.error
    await reread(answer)
    if (answer.ok) props.onDone?.(answer.data)
  }
  /** Escape closes no dialog whose answer is still to be shown. */
  const stay = (event: Event) => {
    if (!busy.peek()) return
    event.preventDefault()
    event.stopPropagation()
    if (event.type === 'close') (event.target as HTMLDialogElement).showModal()
  }
  const ready =
    !disabled && (typed === undefined || typed.some((phrase) => text.value.trim() === phrase.trim()))
  const actions = (
    <>
      <Button onClick={close}>{pageWords.value.cancel}</Button>
      <Button
        kind={danger ? 'danger' : 'primary'}
        disabled={!ready}
        busy={busy.value}
        onClick={() => void run()}
      >
        {button}
      </Button>
    </>
  )
  return (
    <div class="confirm" {...{ onCancelCapture: stay, onCloseCapture: stay }}>
      <Dialog
        title={title}
        open={open || busy.value}
        onClose={close}
        closeWord={pageWords.value.close}
        actions={actions}
      >
        {children}
        {typed === undefined ? null : (
          <Field
            label={words.value.common.typeToConfirm(typed[0]!)}
            autocomplete="off"
            spellcheck={false}
            value={text.value}
            onType={(value) => (text.value = value)}
          />
        )}
        <p role="alert" class="problem">
          {problem.value === null ? null : refusalOf(problem.value)}
        </p>
      </Dialog>
    </div>
  )
}

interface AskProps<T> extends Omit<ConfirmProps<T>, 'open' | 'onClose'> {
  readonly ask: string
  readonly kind?: 'danger' | 'plain'
  readonly pressed?: boolean
}

/** A button that asks for confirmation. */
export function Ask<T>({ ask, kind, pressed, children, ...confirm }: AskProps<T>) {
  const asking = useSignal(false)
  return (
    <>
      <Button
        {...(kind === undefined ? {} : { kind })}
        aria-pressed={pressed}
        onClick={() => (asking.value = true)}
      >
        {ask}
      </Button>
      <Confirm {...confirm} open={asking.value} onClose={() => (asking.value = false)}>
        {asking.value ? children : null}
      </Confirm>
    </>
  )
}

interface BusyProps {
  readonly kind?: 'primary'
  readonly run: () => Promise<unknown>
  readonly children: ComponentChildren
}

/** A button that is busy until its action is done. */
export function BusyButton({ run, ...rest }: BusyProps) {
  const busy = useSignal(false)
  const press = async () => {
    busy.value = true
    try {
      await run()
    } finally {
      busy.value = false
    }
  }
  return <Button {...rest} busy={busy.value} onClick={() => void press()} />
}

// Gives a person a role of the event, or removes it.

type Assigned = Data<'assignRole'>
type Role = NonNullable<Assigned['role']>

export const ROLES: readonly Role[] = ['volunteer', 'manager', 'owner']

/**
 * @param role null removes the role
 * @param before the role that was shown, offered for undo; undefined: unknown
 * @returns the service's answer; null if it was rejected, which is shown
 */
export const assignRole = (
  userId: string,
  role: Role | null,
  before?: Role | null,
): Promise<Assigned | null> =>
  act(
    client.assignRole({ user_id: userId, role, ...(before === undefined ? {} : { seen: before }) }),
    assignedText,
    () => ({
      group: 'role',
      ...(before === undefined
        ? {}
        : { action: { name: words.value.schedule.undo, run: () => void assignRole(userId, before, role) } }),
    }),
  )

const assignedText = ({ role }: Assigned): string =>
  pair(words.value.people.columns.role, role === null ? words.value.people.noRole : words.value.roles[role])
