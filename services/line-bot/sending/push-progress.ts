/** Reads the progress of a message. */
import { eq, sql } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import { time } from '#shared/contracts/fields.ts'
import { Cause, ExcludedRecipients, PushProgress } from '#shared/contracts/messages.ts'
import { notFound } from '#shared/runtime/refusal.ts'
import { messageChunks, messages } from '#shared/stores/schema/tables.ts'
import { countDeliveries, NO_DELIVERIES } from '../web-push/plan-deliveries.ts'

const FAULTS_SHOWN = 10
/** Most people whom a fault names. */
const FAULT_PEOPLE = 20

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
    audience: { ...message.audience },
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
  // Of the smallest calls: who is refused alone is the cause, and a call to 500 people names nobody in particular.
  const rows = await db.read(
    () => db.sql<PushProgress['faults']>`
      WITH faults AS (
        SELECT detail, sum(size)::int AS recipients, (array_agg(id ORDER BY size, id))[1:${FAULT_PEOPLE}::int] AS chunks
        FROM message_chunks
        WHERE message_id = ${id}::uuid AND state IN ('failed', 'waiting') AND detail IS NOT NULL
        GROUP BY detail ORDER BY sum(size) DESC LIMIT ${FAULTS_SHOWN}::int)
      SELECT detail, recipients, coalesce((
        SELECT json_agg(json_build_object('userId', person, 'display_name', p.display_name)) FROM (
          SELECT jsonb_array_elements_text(c.recipients) AS person FROM message_chunks c
          WHERE c.id = ANY(f.chunks) ORDER BY c.size, c.id LIMIT ${FAULT_PEOPLE}::int) told
        LEFT JOIN pilgrims p ON p.user_id = person), '[]') AS people
      FROM faults f ORDER BY recipients DESC`,
  )
  return [...rows]
}
