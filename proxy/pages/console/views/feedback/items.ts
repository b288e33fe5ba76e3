/** Items of feedback as operators get them, and their triage. */
import type { Data } from '#shared/client/index.ts'
import { act } from '../../parts/act.ts'
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

export const triage = (item: Pick<Item, 'id'>, status: Status) =>
  act(client.updateFeedback({ id: item.id, status }), (data) =>
    fill(words.value.feedback.moved, { id: data.id, status: words.value.feedback.columns[data.status] }),
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
