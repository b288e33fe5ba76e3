/** The kinds of entries that the app adds to its queue besides check-ins and points, in sending order. */
import type { AddedKind } from '#shared/client/index.ts'

export type EntryKind = 'person' | 'unshare' | 'share' | 'report' | 'survey'

/** Entries with the same key merge. */
export const keyOf = (fields: object): string => (fields as { readonly key?: string }).key ?? ''

/** How the queue treats each kind. How each is sent is in `session/senders.ts`. */
export const ENTRY_KINDS: Readonly<Record<EntryKind, Omit<AddedKind, 'send' | 'onSettled'>>> = {
  person: { mergesBy: keyOf, ordered: true },
  unshare: { final: ['not-found', 'gone'] },
  share: { final: ['conflict', 'forbidden'] },
  report: { mergesBy: keyOf, last: true },
  survey: { mergesBy: keyOf, last: true },
}
