/** Stores webhook events that the database refuses, as text with the reason, so that they do not block others. */
import { sql } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import { LineEvent } from '#shared/contracts/bot.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { mayWrite } from '#shared/pilgrims/person-lock.ts'
import { refusedLineEvents } from '#shared/stores/schema/tables.ts'
import { senderOf } from './apply-webhook-event.ts'

/** The message of the database's error. The query's error around it would contain personal data. */
function reasonOf(error: unknown): string {
  let cause = error
  while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause
  if (!(cause instanceof Error)) return 'unknown'
  const code = 'code' in cause && typeof cause.code === 'string' ? ` (${cause.code})` : ''
  return `${cause.message}${code}`
}

/** Sets an event aside, or an invalid object. A repeated delivery is the same row. */
export async function setAside(
  { db, log, now }: ServiceContext,
  given: unknown,
  error: unknown,
): Promise<void> {
  const reason = reasonOf(error)
  // JSON escapes the characters that Postgres rejects.
  const event = JSON.stringify(given)
  const parsed = LineEvent.safeParse(given)
  const userId = parsed.success ? senderOf(parsed.data) : null
  await db.orm.transaction(async (tx) => {
    if (userId !== null && !(await mayWrite(tx, userId, parsed.data!.timestamp))) return
    await tx
      .insert(refusedLineEvents)
      .values({
        digest: new Bun.CryptoHasher('sha256').update(event).digest('hex'),
        userId,
        event,
        reason,
        refusedAt: new Date(now()),
      })
      .onConflictDoNothing()
  })
  log.warn('the database refused a webhook event; it is set aside', errorFields(error))
}

/** Counts the events that are set aside. */
export async function countSetAside({ db }: ServiceContext): Promise<number> {
  const [row] = await db.orm.select({ n: sql<number>`count(*)::int` }).from(refusedLineEvents)
  return row!.n
}
