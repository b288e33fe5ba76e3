/** Counts the deliveries of messages by their state. */
import { inArray, sql } from 'drizzle-orm'
import type { WebPushProgress } from '#shared/contracts/messages.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { pushDeliveries } from '#shared/stores/schema/messages.ts'

export const NO_DELIVERIES: WebPushProgress = { sent: 0, waiting: 0, failed: 0 }

/** By the id of the message; none for a message without deliveries. */
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
