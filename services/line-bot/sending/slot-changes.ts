/** What a change of the schedule changes, for the audit log. */
import { isDeepStrictEqual } from 'node:util'
import { Language } from '#shared/contracts/bot.ts'
import type { NotificationSlot } from '#shared/contracts/messages.ts'

/** What of a text the log shows. */
const TEXT_MAX = 120

interface Change {
  readonly id: string
  readonly hour: number
  readonly change: 'added' | 'removed' | 'changed'
  /** Of a change: the fields that are different, with their values before and after. */
  readonly fields?: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>
  /** The texts that are new or different, by their language; null: taken away. */
  readonly texts?: Readonly<Record<string, string | null>>
}

const FIELDS = ['hour', 'enabled', 'dates', 'audience'] as const

const beginningOf = (text: string): string => (text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text)

function textsOf(before: NotificationSlot['text'] | null, after: NotificationSlot['text']) {
  const changed = Language.options.filter((language) => before?.[language] !== after[language])
  return Object.fromEntries(
    changed.map((language) => {
      const text = after[language]
      return [language, text === undefined ? null : beginningOf(text)]
    }),
  )
}

/** The slots that were added, removed or changed, in the order of the new list; removed ones come last. */
export function slotChanges(
  before: readonly NotificationSlot[],
  after: readonly NotificationSlot[],
): readonly Change[] {
  const known = new Map(before.map((slot) => [slot.id, slot]))
  const kept = new Set(after.map(({ id }) => id))
  const changes = after.flatMap((slot): Change[] => {
    const { id, hour } = slot
    const old = known.get(id)
    const texts = textsOf(old?.text ?? null, slot.text)
    if (old === undefined) return [{ id, hour, change: 'added', texts }]
    if (isDeepStrictEqual(old, slot)) return []
    const different = FIELDS.filter((field) => !isDeepStrictEqual(old[field], slot[field]))
    const fields = Object.fromEntries(
      different.map((field) => [field, { from: old[field], to: slot[field] }]),
    )
    return [{ id, hour, change: 'changed', fields, texts }]
  })
  const removed = before.filter(({ id }) => !kept.has(id))
  return [...changes, ...removed.map(({ id, hour }): Change => ({ id, hour, change: 'removed' }))]
}
