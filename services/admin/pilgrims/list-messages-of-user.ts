/** The latest messages that were sent to one pilgrim, or failed. */
import { peekPilgrim } from '#shared/points/pending-points.ts'
import { time, timeOrNull } from '#shared/contracts/fields.ts'
import { Cause } from '#shared/contracts/messages.ts'
import { SEARCHED_MESSAGES, type UserMessage } from '#shared/contracts/user-history.ts'
import { textOfMessage } from '#shared/service/line/line-client.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Acting } from '#shared/service/security/audit-log.ts'
import { expectKnown } from '#shared/pilgrims/profile.ts'
import { auditLook } from './audit-look.ts'

interface Row {
  readonly id: string
  readonly cause: string
  readonly created_ms: number
  readonly created_by: string | null
  readonly state: UserMessage['state']
  readonly detail: string | null
  readonly body: string
  readonly settled_ms: number | null
}

/**
 * Searches a bounded number of messages, because chunks list their recipients without an index.
 * @throws Refusal 404 for an unknown pilgrim; 503 for one whom only the buffer could know, while it is unavailable
 */
export async function listMessagesOfUser(
  context: ServiceContext,
  operator: Acting,
  userId: string,
): Promise<{ items: UserMessage[] }> {
  const { db, kv } = context
  const rows = await db.read(
    () => db.sql<Row[]>`
      SELECT m.id, m.cause, epoch_ms(m.created_at) AS created_ms, m.created_by,
             c.state, c.detail, c.body::text AS body, epoch_ms(c.settled_at) AS settled_ms
      FROM (SELECT * FROM messages ORDER BY created_at DESC, id DESC LIMIT ${SEARCHED_MESSAGES}) m
      CROSS JOIN LATERAL (
        SELECT * FROM message_chunks k
        WHERE k.message_id = m.id AND k.state <> 'split' AND k.recipients ? ${userId}
        ORDER BY k.id DESC LIMIT 1
      ) c
      ORDER BY m.created_at DESC, m.id DESC`,
  )
  const [known] = await db.read(
    () =>
      db.sql<{ known: boolean }[]>`SELECT EXISTS (SELECT FROM pilgrims WHERE user_id = ${userId}) AS known`,
  )
  if (rows.length === 0 && !known!.known)
    expectKnown(userId, false, (await peekPilgrim(kv, userId))?.length ?? null)
  await auditLook(context, operator, userId, { action: 'show-messages' }, known!.known)
  return { items: rows.map(shown) }
}

function shown(row: Row): UserMessage {
  const cause = Cause.parse(row.cause)
  return {
    id: row.id,
    cause,
    state: row.state,
    text: textOfMessage(cause, JSON.parse(row.body) as unknown[]),
    detail: row.detail,
    created_at: time(row.created_ms),
    created_by: row.created_by,
    settled_at: timeOrNull(row.settled_ms),
  }
}
