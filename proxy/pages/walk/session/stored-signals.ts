/** Small values that the device keeps, as signals: they outlive the page, and all tabs share them. */
import { type Signal, signal } from '@preact/signals'
import { closeStorage, remember, remembered } from '../../frame/storage.ts'

const listeners = new Map<string, (text: string | null) => void>()

/** The names with which the storage keeps them begin so. */
const STORED = 'event-'

window.addEventListener('storage', ({ key, newValue }) => {
  if (key !== null) listeners.get(key)?.(newValue)
})

/** Calls the listener when another window has changed the value. */
export function onKept<T>(value: Signal<T>, listener: () => void): void {
  const stored = STORED + names.get(value)!
  window.addEventListener('storage', ({ key, newValue }) => {
    if (key === stored && newValue !== null) listener()
  })
}

/** A stored value that is no JSON counts as absent. */
function parsed<T>(text: string | null, initial: T): T {
  try {
    return text === null ? initial : (JSON.parse(text) as T)
  } catch {
    return initial
  }
}

/** A value under a name. Assign it by {@link keep}, so that it is stored. */
export function kept<T>(name: string, initial: T): Signal<T> {
  const value = signal<T>(parsed(remembered(name), initial))
  listeners.set(STORED + name, (text) => {
    value.value = parsed(text, initial)
  })
  names.set(value, name)
  return value
}

const names = new Map<object, string>()

/** @returns whether the browser has kept it */
export function keep<T>(value: Signal<T>, next: T): boolean {
  value.value = next
  return remember(names.get(value)!, JSON.stringify(next))
}

/** Forgets all values, as after an erasure. Nothing is stored from then on, until the page is loaded again. */
export function forgetAll(): void {
  closeStorage()
  for (const name of names.values()) remember(name, null)
}
