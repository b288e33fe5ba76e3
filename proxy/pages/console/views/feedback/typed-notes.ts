/** Notes that are typed and not saved yet, of all items. They stay in this tab, whatever else is opened meanwhile. */
import { signal } from '@preact/signals'
import { atSignOut } from '../../session.ts'

export interface TypedNote {
  readonly text: string
  /** The note that was there when the typing began. */
  readonly begun: string | null
  /** Somebody else has written one since, and the operator was told. */
  readonly told: boolean
}

/** By the item's id. */
export const typedNotes = signal<ReadonlyMap<number, TypedNote>>(new Map())
atSignOut(() => (typedNotes.value = new Map()))

/** @param typed null: it was saved, or it says what is saved */
export function keepTyped(id: number, typed: TypedNote | null): void {
  const kept = new Map(typedNotes.value)
  if (typed === null) kept.delete(id)
  else kept.set(id, typed)
  typedNotes.value = kept
}

/** What a change that saves the note sends of it. */
export const changeOfNote = (stored: string | null, { text, begun, told }: TypedNote) => ({
  admin_note: text,
  // After a conflict the operator has seen the other note, and may replace it.
  seen: { admin_note: told ? stored : begun },
})
