/** Words that were typed and not used yet. A phone ends a page whenever it needs the memory, so they outlive it. */
import { keep, kept } from './stored-signals.ts'
import { person } from './current-state.ts'

interface Drafts {
  /** Whose they are: another walk may be brought to this phone meanwhile. Null: nobody walks yet. */
  readonly userId: string | null
  readonly name?: string | null
  readonly phone?: string | null
  /** Words of a recovery code, each at its number. */
  readonly code?: readonly string[] | null
}

const drafts = kept<Drafts>('walk-drafts', { userId: null })
const own = (): Drafts => {
  const userId = person.value?.userId ?? null
  return drafts.value.userId === userId ? drafts.value : { userId }
}

/** Null where nothing was typed. */
export const draftOf = <Field extends Exclude<keyof Drafts, 'userId'>>(field: Field): Drafts[Field] | null =>
  own()[field] ?? null

export const keepDraft = (change: Partial<Omit<Drafts, 'userId'>>): void =>
  keep(drafts, { ...own(), ...change })
