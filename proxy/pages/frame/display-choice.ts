/** A choice of how the app looks: the reader's device keeps it, and the page's root names it for the style sheets. */
import { effect, type ReadonlySignal, signal } from '@preact/signals'
import { remember, remembered } from './storage.ts'

interface DisplayChoice<T extends string> {
  readonly chosen: ReadonlySignal<T>
  choose(next: T): void
}

/** @param name of the kept value and of the root's `data-` attribute; the usual option has neither */
export function displayChoice<T extends string>(
  name: 'theme' | 'letters',
  options: readonly T[],
  usual: T,
): DisplayChoice<T> {
  const kept = remembered(name)
  const current = signal<T>(options.find((option) => option === kept) ?? usual)
  effect(() => {
    if (current.value === usual) delete document.documentElement.dataset[name]
    else document.documentElement.dataset[name] = current.value
  })
  return {
    chosen: current,
    choose(next) {
      current.value = next
      remember(name, next === usual ? null : next)
    },
  }
}
