/** The reader's theme and letter size. Without a choice the system decides between light and dark. */
import { effect, type ReadonlySignal, signal } from '@preact/signals'
import { remember, remembered } from './storage.ts'

interface DisplayChoice<T extends string> {
  readonly chosen: ReadonlySignal<T>
  choose(next: T): void
}

/** @param name of the stored value and of the root's `data-` attribute; the default option has neither */
function displayChoice<T extends string>(
  name: 'theme' | 'letters',
  options: readonly T[],
  usual: T,
): DisplayChoice<T> {
  const stored = remembered(name)
  const current = signal<T>(options.find((option) => option === stored) ?? usual)
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

export type Theme = 'auto' | 'light' | 'dark' | 'sun'
export const THEMES: readonly Theme[] = ['auto', 'light', 'dark', 'sun']

export const { chosen: theme, choose: chooseTheme } = displayChoice('theme', THEMES, 'auto')

export const LETTERS = ['normal', 'larger', 'largest'] as const

export const { chosen: letters, choose: chooseLetters } = displayChoice('letters', LETTERS, 'normal')

/**
 * Calls `draw` now, and again whenever the colours of the page change, by the reader's choice or by the system. For
 * canvases: CSS updates the rest.
 * @returns a function that ends it
 */
export function drawInColours(draw: () => void): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  dark.addEventListener('change', draw)
  const unwatch = effect(() => {
    void theme.value
    draw()
  })
  return () => {
    dark.removeEventListener('change', draw)
    unwatch()
  }
}
