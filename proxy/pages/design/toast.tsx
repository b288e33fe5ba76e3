/** Short notices. They stay until the reader closes them or, if nothing depends on them, for some seconds. */
import { signal } from '@preact/signals'
import { Button } from './button.tsx'

/** A function is asked again when the signals change that it reads. */
export type ToastText = string | (() => string)

export interface Toast {
  readonly id: number
  readonly text: ToastText
  readonly warning: boolean
}

const toasts = signal<readonly Toast[]>([])
let last = 0

const textOf = (text: ToastText): string => (typeof text === 'function' ? text() : text)

const close = (id: number): void => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

/** Takes all notices away. */
export const closeToasts = (): void => {
  toasts.value = []
}

/**
 * Shows a notice; screen readers read it out.
 * @param options.forMs how long; without it, until the reader closes it
 */
export function showToast(
  text: ToastText,
  options: { readonly forMs?: number; readonly warning?: boolean } = {},
): void {
  const id = ++last
  toasts.value = [
    ...toasts.value.filter((toast) => textOf(toast.text) !== textOf(text)),
    { id, text, warning: options.warning ?? false },
  ]
  if (options.forMs !== undefined) setTimeout(() => close(id), options.forMs)
}

/** Once on each page. It is there before the first notice, so that screen readers watch it. */
export const Toasts = ({ closeWord }: { readonly closeWord: string }) => (
  <output class="toasts" aria-live="polite">
    {toasts.value.map(({ id, text, warning }) => (
      <div key={id} class={warning ? 'toast warning' : 'toast'}>
        <span>{textOf(text)}</span>
        <Button kind="plain" icon label={closeWord} onClick={() => close(id)}>
          ✕
        </Button>
      </div>
    ))}
  </output>
)
