/**
 * Short notices. They stay until the reader closes them or, if unimportant, for some seconds. Pointer or focus on a
 * notice stops the time.
 */
import { signal } from '@preact/signals'
import type { TargetedFocusEvent } from 'preact'
import { useRef } from 'preact/hooks'
import { Button } from './button.tsx'

/** A function is called again when the signals it reads change. */
type ToastText = string | (() => string)

/** An action on the notice, such as undo. The notice closes with it. */
interface ToastAction {
  readonly name: string
  readonly run: () => void
}

interface Toast {
  readonly id: number
  readonly text: ToastText
  readonly warning: boolean
  readonly action: ToastAction | null
  readonly group: string | undefined
  /** How long it is shown; null: until the reader closes it. */
  readonly forMs: number | null
}

export interface ToastOptions {
  /** Default: until the reader closes it. */
  readonly forMs?: number
  readonly warning?: boolean
  readonly action?: ToastAction
  /** A later notice of the same group replaces this one. */
  readonly group?: string
}

const toasts = signal<readonly Toast[]>([])
const timers = new Map<number, number>()
/** Pointer or focus is on the notices: none of them closes. */
let isPaused = false
let last = 0

const textOf = (text: ToastText): string => (typeof text === 'function' ? text() : text)

const close = (id: number): void => {
  clearTimeout(timers.get(id))
  timers.delete(id)
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
  if (toasts.value.length === 0) isPaused = false
}

function startTimer({ id, forMs }: Toast): void {
  if (forMs !== null && !isPaused)
    timers.set(
      id,
      window.setTimeout(() => close(id), forMs),
    )
}

function hold(): void {
  isPaused = true
  for (const timer of timers.values()) clearTimeout(timer)
  timers.clear()
}

/** Restarts the time, so that a notice being read does not close at once. */
function release(): void {
  if (!isPaused) return
  isPaused = false
  for (const toast of toasts.value) startTimer(toast)
}

/** Closes all notices. */
export const closeToasts = (): void => {
  for (const { id } of toasts.value) close(id)
}

/** Shows a notice; screen readers announce it. The same text again replaces the first. */
export function showToast(
  text: ToastText,
  { forMs, warning = false, action, group }: ToastOptions = {},
): void {
  for (const { id, ...shown } of toasts.value)
    if (textOf(shown.text) === textOf(text) || (group !== undefined && shown.group === group)) close(id)
  const toast = { id: ++last, text, warning, action: action ?? null, group, forMs: forMs ?? null }
  toasts.value = [...toasts.value, toast]
  startTimer(toast)
}

/** Once on each page. It exists before the first notice, so that screen readers watch it. */
export function Toasts({ closeWord }: { readonly closeWord: string }) {
  // A reader who came to a notice by keyboard returns to this element when it closes.
  const before = useRef<HTMLElement | null>(null)
  const onFocusIn = ({ currentTarget, relatedTarget }: TargetedFocusEvent<HTMLElement>) => {
    hold()
    if (relatedTarget instanceof HTMLElement && !currentTarget.contains(relatedTarget))
      before.current = relatedTarget
  }
  const onFocusOut = ({ currentTarget, relatedTarget }: TargetedFocusEvent<HTMLElement>) => {
    if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) release()
  }
  const leave = (id: number) => {
    if (before.current?.isConnected) before.current.focus()
    close(id)
    release()
  }
  return (
    <output
      class="toasts"
      aria-live="polite"
      onFocusIn={onFocusIn}
      onFocusOut={onFocusOut}
      onPointerEnter={hold}
      onPointerLeave={release}
    >
      {toasts.value.map((toast) => (
        <Notice key={toast.id} toast={toast} closeWord={closeWord} onClose={() => leave(toast.id)} />
      ))}
    </output>
  )
}

interface NoticeProps {
  readonly toast: Toast
  readonly closeWord: string
  readonly onClose: () => void
}

function Notice({ toast: { text, warning, action }, closeWord, onClose }: NoticeProps) {
  const onKeyDown = ({ key }: KeyboardEvent) => {
    if (key === 'Escape') onClose()
  }
  const act = ({ run }: ToastAction) => {
    onClose()
    run()
  }
  return (
    <div class={warning ? 'toast warning' : 'toast'}>
      <span>{textOf(text)}</span>
      {action === null ? null : (
        <Button onKeyDown={onKeyDown} onClick={() => act(action)}>
          {action.name}
        </Button>
      )}
      <Button kind="plain" icon label={closeWord} onKeyDown={onKeyDown} onClick={onClose}>
        ✕
      </Button>
    </div>
  )
}
