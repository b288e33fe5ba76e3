/** Items of feedback as operators get them, and their triage. */
import type { Answer, Data } from '#shared/client/index.ts'
import { showToast, type ToastAction, type ToastOptions } from '../../../design/toast.tsx'
import { act } from '../../parts/act.ts'
import { reloadAll } from '../../resource.ts'
import { client } from '../../session.ts'
import { fill, words } from '../../words.ts'

export const STATUSES = ['new', 'triaging', 'fixing', 'fixed', 'wontfix'] as const
export type Status = (typeof STATUSES)[number]

export type Item = Data<'updateFeedback'>

/** With a token every item has all fields. */
export const itemsOf = (list: Data<'listFeedback'> | null): readonly Item[] => (list?.items ?? []) as Item[]

export const inColumn = (items: readonly Item[], status: Status): readonly Item[] =>
  items.filter((item) => item.status === status)

/** In the order of the board: column by column. */
export const ordered = (items: readonly Item[]): readonly Item[] =>
  STATUSES.flatMap((status) => inColumn(items, status))

/** Number of items of each status; null until the service has told. */
export const countsOf = (list: Data<'listFeedback'> | null): Readonly<Record<Status, number>> | null =>
  list !== null && 'counts' in list ? list.counts : null

/** Number of items with a status, or of all (`''`); null until the service has told. */
export function totalOf(list: Data<'listFeedback'>, status: Status | ''): number | null {
  const counts = countsOf(list)
  if (counts === null) return null
  return status === '' ? STATUSES.reduce((sum, one) => sum + counts[one], 0) : counts[status]
}

/**
 * A change of an item by what the operator saw. When somebody else was faster, nothing is changed: the item is read
 * again, and the operator is told.
 */
export async function change(
  id: number,
  call: Promise<Answer<Item>>,
  said: (data: Item) => string,
  more?: Pick<ToastOptions, 'action' | 'group'>,
): Promise<Item | null> {
  const answer = await call
  if (answer.ok || answer.error.status !== 409) return act(Promise.resolve(answer), said, more)
  await reloadAll()
  showToast(fill(words.value.feedback.conflict, { id }), { warning: true })
  return null
}

/** @param action what the operator may do about it afterwards */
export const triage = (
  { id, status: seen }: Pick<Item, 'id' | 'status'>,
  status: Status,
  action?: ToastAction,
) =>
  change(
    id,
    client.updateFeedback({ id, status, seen: { status: seen } }),
    (data) => fill(words.value.feedback.moved, { id, status: words.value.feedback.columns[data.status] }),
    { group: 'triage', ...(action === undefined ? {} : { action }) },
  )

const PICTURES = '/api/event/feedback-image/'

/**
 * Address of an uploaded screenshot on this server. Null for any other address: the console loads nothing from
 * elsewhere.
 */
export function screenshotPath(url: string | null): string | null {
  if (url === null || !URL.canParse(url, location.origin)) return null
  const { pathname } = new URL(url, location.origin)
  return pathname.startsWith(PICTURES) ? pathname : null
}

/** A category of the app by its name; others as they were sent. */
export function categoryText(category: string): string {
  const names: Readonly<Record<string, string>> = words.value.feedback.categories
  return Object.hasOwn(names, category) ? names[category]! : category
}
