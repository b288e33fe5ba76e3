/** The size of the letters, and of everything that is measured by them. The reader's device keeps it. */
import { effect, type ReadonlySignal, signal } from '@preact/signals'
import { remember, remembered } from './storage.ts'

export type Letters = 'normal' | 'larger' | 'largest'
export const LETTERS: readonly Letters[] = ['normal', 'larger', 'largest']

const chosen = remembered('letters') as Letters | null
const current = signal<Letters>(chosen !== null && LETTERS.includes(chosen) ? chosen : 'normal')
export const letters: ReadonlySignal<Letters> = current

effect(() => {
  if (current.value === 'normal') delete document.documentElement.dataset.letters
  else document.documentElement.dataset.letters = current.value
})

export function chooseLetters(next: Letters): void {
  current.value = next
  remember('letters', next === 'normal' ? null : next)
}
