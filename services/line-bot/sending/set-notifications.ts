/** Replaces the scheduled notifications. */
import { type Acting, audit } from '#shared/service/security/audit-log.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Notifications, SetNotificationsRequest, NotificationSlot } from '#shared/contracts/messages.ts'
import { PLAN_ID, readNotifications } from '#shared/service/line/scheduled-notifications.ts'
import { notificationPlan } from '#shared/stores/schema/tables.ts'
import { isDeepStrictEqual } from 'node:util'
import { BuiltInLanguage } from '#shared/contracts/bot.ts'
import { lockPerson } from '#shared/pilgrims/person-lock.ts'
import { conflict } from '#shared/runtime/refusal.ts'

/** A reserved id: its lock serializes the changes. */
const PLAN = 'the notifications'

/** A slot that was sent today is not sent again today, even if its hour changes. */
export async function setNotifications(
  { db, now }: ServiceContext,
  operator: Acting,
  { slots, seen }: SetNotificationsRequest,
): Promise<Notifications> {
  const fields = { slots, changedAt: new Date(now()), changedBy: operator.name }
  return db.transaction(async (tx) => {
    // Without a row there is nothing to lock: this lock makes the second of two first changes wait.
    await lockPerson(tx, PLAN)
    const before = await readNotifications(tx)
    if (seen !== undefined && seen !== before.changed_at)
      throw conflict(
        `${before.changed_by ?? 'Somebody'} has changed the notifications meanwhile. Nothing was changed.`,
      )
    await tx.orm
      .insert(notificationPlan)
      .values({ id: PLAN_ID, ...fields })
      .onConflictDoUpdate({ target: notificationPlan.id, set: fields })
    const details = {
      slots: slots.map(({ id, hour, enabled }) => ({ id, hour, enabled })),
      changes: slotChanges(before.slots, slots),
    }
    await audit(tx, operator, 'set-notifications', details, now())
    return readNotifications(tx)
  })
}

const TEXT_MAX = 120

interface Change {
  readonly id: string
  readonly hour: number
  readonly change: 'added' | 'removed' | 'changed'
  /** For a change: the fields that differ, with their values before and after. */
  readonly fields?: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>
  /** New or changed texts by language; null: removed. */
  readonly texts?: Readonly<Record<string, string | null>>
}

const FIELDS = ['hour', 'enabled', 'dates', 'audience'] as const

const beginningOf = (text: string): string => (text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text)

function textsOf(before: NotificationSlot['text'] | null, after: NotificationSlot['text']) {
  const changed = BuiltInLanguage.options.filter((language) => before?.[language] !== after[language])
  return Object.fromEntries(
    changed.map((language) => {
      const text = after[language]
      return [language, text === undefined ? null : beginningOf(text)]
    }),
  )
}

/** The added, removed or changed slots, in the order of the new list; removed ones come last. */
export function slotChanges(
  before: readonly NotificationSlot[],
  after: readonly NotificationSlot[],
): readonly Change[] {
  const known = new Map(before.map((slot) => [slot.id, slot]))
  const remainingIds = new Set(after.map(({ id }) => id))
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
  const removed = before.filter(({ id }) => !remainingIds.has(id))
  return [...changes, ...removed.map(({ id, hour }): Change => ({ id, hour, change: 'removed' }))]
}
