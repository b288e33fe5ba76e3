/** The ledger of messages: a list, latest first, and the progress of one. */
import { and, desc, eq, inArray, sql } from 'drizzle-orm'
import { z } from 'zod'
import {
  type Cause,
  Cause as AnyCause,
  ExcludedRecipients,
  type PushProgress,
  type SentMessage,
  type WebPushProgress,
} from '#shared/contracts/messages.ts'
import { type PageQuery, time, timeOrNull } from '#shared/contracts/fields.ts'
import { notFound } from '#shared/runtime/refusal.ts'
import { readPage } from '#shared/service/http/pagination.ts'
import { textOfMessage } from '#shared/service/line/line-client.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { messageChunks, messages } from '#shared/stores/schema/tables.ts'
import { countDeliveries, NO_DELIVERIES } from '../web-push/plan-deliveries.ts'

type Row = typeof messages.$inferSelect

export async function listMessages(
  context: ServiceContext,
  query: PageQuery & { readonly cause?: Cause | undefined },
) {
  const { db } = context
  const { cause } = query
  const ofCause = cause === undefined ? undefined : eq(messages.cause, cause)
  return readPage(
    `messages:${cause ?? ''}`,
    [z.iso.datetime(), z.uuid()],
    query,
    async (after, limit) => {
      const place =
        after && sql`(${messages.createdAt}, ${messages.id}) < (${after[0]}::timestamptz, ${after[1]}::uuid)`
      const rows = await db.read(() =>
        db.orm
          .select()
          .from(messages)
          .where(and(ofCause, place ?? undefined))
          .orderBy(desc(messages.createdAt), desc(messages.id))
          .limit(limit),
      )
      return withCounts(context, rows)
    },
    (message) => message,
    ({ created_at, id }) => [created_at, id],
  )
}

const FAULTS_SHOWN = 10
/** Maximum number of people listed in a fault. */
const FAULT_PEOPLE = 20

/** @throws Refusal 404 for an unknown id */
export async function readProgress(context: ServiceContext, id: string): Promise<PushProgress> {
  const { db } = context
  const rows = await db.read(() => db.orm.select().from(messages).where(eq(messages.id, id)))
  const [message] = await withCounts(context, rows)
  if (message === undefined) throw notFound('There is no message with this id.')
  return { ...message, faults: await readFaults(context, id) }
}

async function withCounts(context: ServiceContext, rows: readonly Row[]): Promise<SentMessage[]> {
  const ids = rows.map(({ id }) => id)
  const [counts, deliveries] = await Promise.all([countStates(context, ids), countDeliveries(context, ids)])
  return rows.map((row) => shown(row, counts.get(row.id), deliveries.get(row.id)))
}

interface Counts {
  readonly sent: number
  readonly waiting: number
  readonly failed: number
  readonly skipped: number
  readonly attempts: number
  readonly body: unknown[] | null
}
const NONE: Counts = { sent: 0, waiting: 0, failed: 0, skipped: 0, attempts: 0, body: null }

async function countStates({ db }: ServiceContext, ids: readonly string[]): Promise<Map<string, Counts>> {
  if (ids.length === 0) return new Map()
  const sizeIf = (state: string) =>
    sql<number>`coalesce(sum(${messageChunks.size}) FILTER (WHERE ${messageChunks.state} = ${state}), 0)::int`
  const rows = await db.read(() =>
    db.orm
      .select({
        id: messageChunks.messageId,
        sent: sizeIf('sent'),
        waiting: sizeIf('waiting'),
        failed: sizeIf('failed'),
        skipped: sizeIf('skipped'),
        attempts: sql<number>`sum(${messageChunks.attempts})::int`,
        body: sql<unknown[]>`(array_agg(${messageChunks.body} ORDER BY ${messageChunks.id}))[1]`,
      })
      .from(messageChunks)
      .where(inArray(messageChunks.messageId, [...ids]))
      .groupBy(messageChunks.messageId),
  )
  return new Map(rows.map(({ id, ...counts }) => [id, counts]))
}

function shown(
  row: Row,
  { body, ...counts }: Counts = NONE,
  webPush: WebPushProgress = NO_DELIVERIES,
): SentMessage {
  const cause = AnyCause.parse(row.cause)
  return {
    id: row.id,
    cause,
    audience: { ...row.audience },
    state: row.state as SentMessage['state'],
    recipients: row.recipients,
    ...counts,
    left_out: ExcludedRecipients.parse(row.leftOut),
    web_push: webPush,
    created_at: time(row.createdAt),
    created_by: row.createdBy,
    completed_at: timeOrNull(row.completedAt),
    text: textOfMessage(cause, body),
  }
}

async function readFaults({ db }: ServiceContext, id: string): Promise<PushProgress['faults']> {
  // From the smallest calls: a recipient refused alone is the cause, while a call to 500 people identifies nobody.
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
