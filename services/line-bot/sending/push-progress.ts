/** Reads the progress of a message. */
import { desc, eq, sql } from 'drizzle-orm'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { time } from '#shared/contracts/fields.ts'
import { Cause, ExcludedRecipients, PushProgress } from '#shared/contracts/messages.ts'
import { notFound } from '#shared/http/errors.ts'
import { messageChunks, messages } from '#shared/schema/messages.ts'
import { countDeliveries, NO_DELIVERIES } from '../web-push/count-deliveries.ts'

const FAULTS_SHOWN = 10

/** @throws Refusal 404 for an unknown id */
export async function readProgress(context: ServiceContext, id: string): Promise<PushProgress> {
  const { db } = context
  const [message] = await db.read(() => db.orm.select().from(messages).where(eq(messages.id, id)))
  if (message === undefined) throw notFound('There is no message with this id.')
  const counts = await countStates(context, id)
  const deliveries = await countDeliveries(context, [id])
  return {
    id,
    cause: Cause.parse(message.cause),
    audience: message.audience,
    state: PushProgress.shape.state.parse(message.state),
    recipients: message.recipients,
    ...counts,
    left_out: ExcludedRecipients.parse(message.leftOut),
    web_push: deliveries.get(id) ?? NO_DELIVERIES,
    faults: await readFaults(context, id),
    created_at: time(message.createdAt.getTime()),
    created_by: message.createdBy,
    completed_at: message.completedAt === null ? null : time(message.completedAt.getTime()),
  }
}

async function countStates({ db }: ServiceContext, id: string) {
  const rows = await db.read(() =>
    db.orm
      .select({
        state: messageChunks.state,
        size: sql<number>`sum(${messageChunks.size})::int`,
        attempts: sql<number>`sum(${messageChunks.attempts})::int`,
      })
      .from(messageChunks)
      .where(eq(messageChunks.messageId, id))
      .groupBy(messageChunks.state),
  )
  const of = (state: string) => rows.find((row) => row.state === state)?.size ?? 0
  return {
    sent: of('sent'),
    waiting: of('waiting'),
    failed: of('failed'),
    skipped: of('skipped'),
    attempts: rows.reduce((sum, { attempts }) => sum + attempts, 0),
  }
}

async function readFaults({ db }: ServiceContext, id: string): Promise<PushProgress['faults']> {
  const size = sql<number>`sum(${messageChunks.size})::int`
  const rows = await db.read(() =>
    db.orm
      .select({ detail: messageChunks.detail, size })
      .from(messageChunks)
      .where(sql`${messageChunks.messageId} = ${id} AND ${messageChunks.state} IN ('failed', 'waiting')
        AND ${messageChunks.detail} IS NOT NULL`)
      .groupBy(messageChunks.detail)
      .orderBy(desc(size))
      .limit(FAULTS_SHOWN),
  )
  return rows.map(({ detail, size: recipients }) => ({ detail: detail ?? '', recipients }))
}
