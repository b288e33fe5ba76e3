/** Plans a message for the devices of its audience, in the transaction that stores the message. */
import { eq, sql, inArray } from 'drizzle-orm'
import type { Language } from '#shared/contracts/bot.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { messages, type Notice, pushDeliveries } from '#shared/stores/schema/tables.ts'
import type { WebPushProgress } from '#shared/contracts/messages.ts'
import type { ServiceContext } from '#shared/service/context.ts'

type People = ReadonlyMap<Language, readonly string[]>

const idsOf = (people: readonly string[]) => sql`
  SELECT jsonb_array_elements_text(${JSON.stringify(people)}::text::jsonb)`

export async function countDevices(tx: Tx, people: People): Promise<number> {
  const [row] = await tx.orm.execute<{ n: number }>(sql`
    SELECT count(*)::int AS n FROM push_subscriptions WHERE user_id IN (${idsOf([...people.values()].flat())})`)
  return row!.n
}

/** Stores a delivery for each device of these people. The caller holds `lockRecipients`. */
export async function planDeliveries(
  tx: Tx,
  messageId: string,
  people: People,
  notice: (language: Language) => Notice,
  { at, dueAt }: { readonly at: Date; readonly dueAt: Date },
): Promise<void> {
  const notices: Record<Language, Notice> = {}
  for (const [language, ids] of people) {
    const planned = await tx.orm.execute(sql`
      INSERT INTO push_deliveries (message_id, subscription_id, user_id, language, state, created_at, due_at)
      SELECT ${messageId}::uuid, id, user_id, ${language}::text, 'waiting',
             ${at.toISOString()}::timestamptz, ${dueAt.toISOString()}::timestamptz
      FROM push_subscriptions WHERE user_id IN (${idsOf(ids)}) ORDER BY id
      RETURNING id`)
    if (planned.length > 0) notices[language] = notice(language)
  }
  if (Object.keys(notices).length > 0)
    await tx.orm.update(messages).set({ notices }).where(eq(messages.id, messageId))
}

export const NO_DELIVERIES: WebPushProgress = { sent: 0, waiting: 0, failed: 0 }

/** Counts deliveries by message id; messages without deliveries are missing. */
export async function countDeliveries(
  { db }: ServiceContext,
  messageIds: readonly string[],
): Promise<ReadonlyMap<string, WebPushProgress>> {
  if (messageIds.length === 0) return new Map()
  const countOf = (state: string) =>
    sql<number>`(count(*) FILTER (WHERE ${pushDeliveries.state} = ${state}))::int`
  const rows = await db.read(() =>
    db.orm
      .select({
        id: pushDeliveries.messageId,
        sent: countOf('sent'),
        waiting: countOf('waiting'),
        failed: countOf('failed'),
      })
      .from(pushDeliveries)
      .where(inArray(pushDeliveries.messageId, [...messageIds]))
      .groupBy(pushDeliveries.messageId),
  )
  return new Map(rows.map(({ id, ...counts }) => [id, counts]))
}
