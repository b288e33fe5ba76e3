/**
 * The app's single current state. `change` is the only way to modify it; stored fields are shared by all
 * windows.
 */
import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { after, type Events, INITIAL, type Mode, modeOf, type Person, type State } from '../state.ts'
import { keepAll, kept } from './stored-signals.ts'

const fields: { readonly [F in keyof State]: Signal<State[F]> } = {
  person: kept<Person | null>('walk-person', null),
  withdrawn: kept('walk-consent-withdrawn', false),
  erased: kept('walk-erased-elsewhere', false),
  recording: kept('walk-recording', false),
  signedOut: signal(false),
  event: signal<State['event']>(null),
  resting: signal(false),
  restoring: signal(false),
  opening: signal(true),
}
const STORED = new Set<keyof State>(['person', 'withdrawn', 'erased', 'recording'])
const NAMES = Object.keys(INITIAL) as (keyof State)[]

export const state: ReadonlySignal<State> = computed(
  () => Object.fromEntries(NAMES.map((name) => [name, fields[name].value])) as unknown as State,
)
export const mode: ReadonlySignal<Mode> = computed(() => modeOf(state.value))

export function change<E extends keyof Events>(event: E, given: Events[E]): void {
  const before = state.peek()
  const next = after(before, event, given)
  const changed = NAMES.filter((name) => next[name] !== before[name])
  const stored = changed.filter((name) => STORED.has(name))
  batch(() => {
    for (const name of changed) (fields[name] as Signal).value = next[name]
    if (stored.length > 0)
      void keepAll(
        stored.map((name) => [fields[name] as Signal, next[name]]),
        'strict',
      )
  })
}

export const person: ReadonlySignal<Person | null> = fields.person
export const consentWithdrawn: ReadonlySignal<boolean> = fields.withdrawn
export const erasedElsewhere: ReadonlySignal<boolean> = fields.erased
export const signInNeeded: ReadonlySignal<boolean> = fields.signedOut
export const recording: ReadonlySignal<boolean> = fields.recording
export const resting: ReadonlySignal<boolean> = fields.resting

/** The recovery code was shown and stored safely. */
export const codeIsSafe = kept('walk-code-safe', false)
