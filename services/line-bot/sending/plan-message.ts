/** Stores a message in the `messages` tables, split into chunks of LINE's size. The sender sends the chunks. */
import { randomUUID } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import type { Language } from '#shared/contracts/bot.ts'
import type { Cause, ExcludedRecipients, Recipients } from '#shared/contracts/messages.ts'
import { type Message, MULTICAST_MAX } from '#shared/service/line/line-client.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { messageChunks, messages, type Notice } from '#shared/stores/schema/tables.ts'
import { planDeliveries } from '../web-push/plan-deliveries.ts'
import type { Selected } from './audience.ts'

const CHUNKS_PER_INSERT = 50

interface Plan {
  readonly cause: Cause
  /** Identifies the message: each key is planned once. */
  readonly causeKey: string
  readonly audience: Recipients
  readonly selected: Selected
  /** What devices show, by Web Push; absent: no device gets it. */
  readonly notice?: ((language: Language) => Notice) | undefined
  readonly content: (language: Language) => readonly Message[]
  readonly forced?: boolean
  /** It is too late: the message is stored as expired. */
  readonly expired?: boolean
  /** False without LINE credentials: the message is stored as skipped. */
  readonly configured: boolean
  readonly createdBy?: string
  readonly nowMs: number
  /** When the senders may send it, by their clock; absent: `nowMs`. */
  readonly dueMs?: number
}

export interface Planned {
  readonly id: string
  readonly recipients: number
  readonly leftOut: ExcludedRecipients
}

/** Counts recipients whose message LINE has neither accepted nor refused yet. */
export async function undecided(tx: Tx): Promise<number> {
  const [row] = await tx.orm
    .select({ count: sql<number>`coalesce(sum(${messageChunks.size}), 0)::int` })
    .from(messageChunks)
    .where(eq(messageChunks.state, 'waiting'))
  return row?.count ?? 0
}

/** Stores a message. The caller holds `lockRecipients`. @returns null when a message with this cause key exists */
export async function planMessage(tx: Tx, plan: Plan): Promise<Planned | null> {
  const { cause, causeKey, selected, configured, nowMs } = plan
  const at = new Date(nowMs)
  const nothingToDo = !configured || selected.count === 0
  const state = configured ? (selected.count === 0 ? 'sent' : 'sending') : 'skipped'
  const [row] = await tx.orm
    .insert(messages)
    .values({
      id: randomUUID(),
      cause,
      causeKey,
      audience: { ...plan.audience },
      forced: plan.forced ?? false,
      state: plan.expired ? 'expired' : state,
      recipients: selected.count,
      leftOut: { ...selected.leftOut },
      createdBy: plan.createdBy ?? null,
      createdAt: at,
      completedAt: nothingToDo ? at : null,
    })
    .onConflictDoNothing({ target: messages.causeKey })
    .returning({ id: messages.id })
  if (row === undefined) return null
  const dueAt = new Date(plan.dueMs ?? nowMs)
  await insertChunks(tx, row.id, plan, at, dueAt)
  if (plan.notice !== undefined)
    await planDeliveries(tx, row.id, selected.everybody, plan.notice, { at, dueAt })
  return { id: row.id, recipients: selected.count, leftOut: selected.leftOut }
}

async function insertChunks(tx: Tx, messageId: string, plan: Plan, at: Date, dueAt: Date): Promise<void> {
  const { selected, content, configured } = plan
  const rows: (typeof messageChunks.$inferInsert)[] = []
  for (const [language, people] of selected.byLanguage) {
    const body = [...content(language)]
    for (let from = 0; from < people.length; from += MULTICAST_MAX)
      rows.push({
        ...chunk(
          messageId,
          people.slice(from, from + MULTICAST_MAX),
          body,
          configured ? 'waiting' : 'skipped',
          at,
        ),
        dueAt,
      })
  }
  for (let from = 0; from < rows.length; from += CHUNKS_PER_INSERT)
    await tx.orm.insert(messageChunks).values(rows.slice(from, from + CHUNKS_PER_INSERT))
}

/** A chunk with its own retry key. The first call and every retry send the same key. */
export const chunk = (
  messageId: string,
  recipients: string[],
  body: unknown[],
  state: 'waiting' | 'skipped',
  at: Date,
): typeof messageChunks.$inferInsert => ({
  messageId,
  state,
  recipients,
  size: recipients.length,
  body,
  retryKey: randomUUID(),
  dueAt: at,
  settledAt: state === 'skipped' ? at : null,
})
