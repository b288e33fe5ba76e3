/** The one current state of the app. `change` is the only way to change it; all windows share what is kept of it. */
import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { after, type Events, INITIAL, type Mode, modeOf, type Person, type State } from '../state.ts'
import { keep, kept } from './stored-signals.ts'

const fields: { readonly [F in keyof State]: Signal<State[F]> } = {
  person: kept<Person | null>('walk-person', null),
  withdrawn: kept('walk-consent-withdrawn', false),
  erased: kept('walk-erased-elsewhere', false),
  recording: kept('walk-recording', false),
  signedOut: signal(false),
  event: signal<State['event']>(null),
  resting: signal(false),
  restoring: signal(false),
}
const STORED = new Set<keyof State>(['person', 'withdrawn', 'erased', 'recording'])
const NAMES = Object.keys(INITIAL) as (keyof State)[]

export const state: ReadonlySignal<State> = computed(
  () => Object.fromEntries(NAMES.map((name) => [name, fields[name].value])) as unknown as State,
)
export const mode: ReadonlySignal<Mode> = computed(() => modeOf(state.value))

/** The browser has refused to keep the walk: it lasts as long as the page. */
export const walkNotKept = signal(false)

export function change<E extends keyof Events>(event: E, given: Events[E]): void {
  const before = state.peek()
  const next = after(before, event, given)
  const set = (name: keyof State): void => {
    const field = fields[name] as Signal<State[keyof State]>
    if (next[name] === before[name]) return
    if (!STORED.has(name)) field.value = next[name]
    else walkNotKept.value = !keep(field, next[name])
  }
  batch(() => {
    for (const name of NAMES) set(name)
  })
}

export const person: ReadonlySignal<Person | null> = fields.person
export const consentWithdrawn: ReadonlySignal<boolean> = fields.withdrawn
export const erasedElsewhere: ReadonlySignal<boolean> = fields.erased
export const signInNeeded: ReadonlySignal<boolean> = fields.signedOut
export const recording: ReadonlySignal<boolean> = fields.recording
export const resting: ReadonlySignal<boolean> = fields.resting

/** The recovery code was shown and put away safely. */
export const codeIsSafe = kept('walk-code-safe', false)
