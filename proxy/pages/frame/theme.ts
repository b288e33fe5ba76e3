/** The reader's theme. Without a choice the system decides between light and dark. */
import { effect, type ReadonlySignal, signal } from '@preact/signals'
import { remember, remembered } from './storage.ts'

export type Theme = 'auto' | 'light' | 'dark' | 'sun'
export const THEMES: readonly Theme[] = ['auto', 'light', 'dark', 'sun']

const chosen = remembered('theme') as Theme | null
const current = signal<Theme>(chosen !== null && THEMES.includes(chosen) ? chosen : 'auto')
export const theme: ReadonlySignal<Theme> = current

effect(() => {
  if (current.value === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = current.value
})

export function chooseTheme(next: Theme): void {
  current.value = next
  remember('theme', next === 'auto' ? null : next)
}
