/**
 * Text that was typed and not submitted yet. It is stored because a phone ends a page whenever it needs
 * memory.
 */
import { keep, kept } from './stored-signals.ts'
import { person } from './current-state.ts'

interface Drafts {
  /** Their owner: another walk may be moved to this phone. Null: not registered yet. */
  readonly userId: string | null
  readonly name?: string | null
  readonly phone?: string | null
  /** Words of a recovery code, by position. */
  readonly code?: readonly string[] | null
}

const drafts = kept<Drafts>('walk-drafts', { userId: null })
const own = (): Drafts => {
  const userId = person.value?.userId ?? null
  return drafts.value.userId === userId ? drafts.value : { userId }
}

/** Null if nothing was typed. */
export const draftOf = <Field extends Exclude<keyof Drafts, 'userId'>>(field: Field): Drafts[Field] | null =>
  own()[field] ?? null

export const keepDraft = (change: Partial<Omit<Drafts, 'userId'>>): void =>
  keep(drafts, { ...own(), ...change })
