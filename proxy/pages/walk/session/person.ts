/** Who walks with this device. */
import { kept } from './stored-signals.ts'

export interface Person {
  readonly userId: string
  readonly name: string
  /** Version of the privacy notice that they agreed to. */
  readonly privacyVersion: string
  /** The service knows name and consent. Until then both are sent again. */
  readonly known: boolean
}

/** Null before the first minute is over. */
export const person = kept<Person | null>('walk-person', null)

/** The recovery code was shown and put away safely. */
export const codeIsSafe = kept('walk-code-safe', false)
