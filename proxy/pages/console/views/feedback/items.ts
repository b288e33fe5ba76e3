/** Feedback items as operators see them, and their triage. */
import type { Answer, Data } from '#shared/client/index.ts'
import { act } from '../../parts/actions.tsx'
import { client, atSignOut } from '../../session.ts'
import { nameOf, pair, words } from '../../words.ts'
import { signal } from '@preact/signals'

export const STATUSES = ['new', 'triaging', 'fixing', 'fixed', 'wontfix'] as const
export type Status = (typeof STATUSES)[number]

export type Item = Data<'updateFeedback'>

/** With a token every item has all fields. */
export const itemsOf = (list: Data<'listFeedback'> | null): readonly Item[] => (list?.items ?? []) as Item[]

/** The items of a column; those about safety come first. */
export const inColumn = (items: readonly Item[], status: Status): readonly Item[] =>
  items
    .filter((item) => item.status === status)
    .toSorted((a, b) => Number(isOfSafety(b)) - Number(isOfSafety(a)))

export const isOfSafety = ({ category }: Item): boolean => category === 'safety'

export const ordered = (items: readonly Item[]): readonly Item[] =>
  STATUSES.flatMap((status) => inColumn(items, status))

/** Number of items by status; null until the service reports it. */
export const countsOf = (list: Data<'listFeedback'> | null): Readonly<Record<Status, number>> | null =>
  list !== null && 'counts' in list ? list.counts : null

/** Number of items with a status, or of all (`''`); null until the service reports it. */
export function totalOf(list: Data<'listFeedback'>, status: Status | ''): number | null {
  const counts = countsOf(list)
  if (counts === null) return null
  return status === '' ? STATUSES.reduce((sum, each) => sum + counts[each], 0) : counts[status]
}

type Shown = Partial<Pick<Item, 'status' | 'admin_note'>>

/** The fields that an action changed, for undo. */
export interface Change extends Pick<Item, 'id'> {
  readonly before: Shown
  readonly after: Shown
  /** A note that was saved with it. */
  readonly typed: TypedNote | undefined
}

/**
 * Sets a status, and saves an unsaved note with it.
 * @param undo undoes the change
 * @returns null if it was rejected, which is shown
 */
export async function triage(
  item: Item,
  status: Status,
  undo: { readonly name: string; readonly run: (change: Change) => void },
): Promise<Change | null> {
  const { id } = item
  const begun = typedNotes.value.get(id)
  // If another note was written meanwhile, the operator decides about their own.
  const typed = begun?.begun === item.admin_note ? begun : undefined
  const { seen, ...note } = typed === undefined ? {} : changeOfNote(item.admin_note, typed)
  const call = client.updateFeedback({ id, status, ...note, seen: { status: item.status, ...seen } })
  let done: Change | null = null
  await act(
    typed === undefined ? call : afterAnswer(id, typed, call),
    (data) => (typed === undefined ? moved(data) : `${moved(data)}. ${words.value.feedback.noteSaved}`),
    (data) => {
      const changed = (of: Item): Shown => (typed === undefined ? { status: of.status } : shownOf(of))
      const made: Change = { id, before: changed(item), after: changed(data), typed }
      done = made
      return { group: 'triage', action: { name: undo.name, run: () => undo.run(made) } }
    },
  )
  return done
}

const shownOf = ({ status, admin_note }: Item): Shown => ({ status, admin_note })

/** `#12: Done` */
const moved = ({ id, status }: Item): string => pair(`#${id}`, words.value.feedback.columns[status])

/** Undoes a change. A note that was saved with it becomes unsaved again. */
export function takeBack({ id, before, after, typed }: Change): Promise<Item | null> {
  const { admin_note: note, ...status } = before
  const saved = note === undefined ? {} : { admin_note: note ?? '' }
  const call = client.updateFeedback({ id, ...status, ...saved, seen: after })
  const typedAgain = async (): Promise<Answer<Item>> => {
    const answer = await call
    if (answer.ok && typed !== undefined && !typedNotes.value.has(id)) keepTyped(id, typed)
    return answer
  }
  return act(typedAgain(), moved, () => ({ group: 'triage' }))
}

export const saveNote = ({ id, admin_note: stored }: Item, typed: TypedNote): Promise<Item | null> =>
  act(
    afterAnswer(id, typed, client.updateFeedback({ id, ...changeOfNote(stored, typed) })),
    () => words.value.feedback.noteSaved,
    (data) => {
      const [before, after] = [{ admin_note: stored }, { admin_note: data.admin_note }]
      const run = () => void takeBack({ id, before, after, typed })
      return { group: 'triage', action: { name: words.value.schedule.undo, run } }
    },
  )

/**
 * Runs before the page is reloaded: a saved note is no longer unsaved. Text typed meanwhile stays; after a
 * conflict all of it stays, beside the other note.
 */
async function afterAnswer(id: number, typed: TypedNote, call: Promise<Answer<Item>>): Promise<Answer<Item>> {
  const answer = await call
  const now = typedNotes.value.get(id)
  if (now === undefined) return answer
  if (answer.ok) keepTyped(id, now.text === typed.text ? null : { ...now, begun: answer.data.admin_note })
  else if (answer.error.status === 409) keepTyped(id, { ...now, told: true })
  return answer
}

const PICTURES = '/api/event/feedback-image/'

/**
 * Address of an uploaded screenshot on this server. Null for any other address: the console loads nothing
 * from elsewhere.
 */
export function screenshotPath(url: string | null): string | null {
  if (url === null || !URL.canParse(url, location.origin)) return null
  const { pathname } = new URL(url, location.origin)
  return pathname.startsWith(PICTURES) ? pathname : null
}

/** Display name of a category of the app; others as they were sent. */
export const categoryText = (category: string): string => nameOf(words.value.feedback.categories, category)

// Unsaved notes of all items. They stay in this tab, whatever else is opened.

interface TypedNote {
  readonly text: string
  /** The stored note when typing began. */
  readonly begun: string | null
  /** Another operator has written a note since, and this one was informed. */
  readonly told: boolean
}

export const typedNotes = signal<ReadonlyMap<number, TypedNote>>(new Map())
atSignOut(() => (typedNotes.value = new Map()))

/** @param typed null: it was saved, or equals the stored note */
export function keepTyped(id: number, typed: TypedNote | null): void {
  const kept = new Map(typedNotes.value)
  if (typed === null) kept.delete(id)
  else kept.set(id, typed)
  typedNotes.value = kept
}

const changeOfNote = (stored: string | null, { text, begun, told }: TypedNote) => ({
  admin_note: text,
  // After a conflict the operator has seen the other note, and may replace it.
  seen: { admin_note: told ? stored : begun },
})
