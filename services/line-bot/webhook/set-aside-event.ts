/** Webhook events that the database refuses: kept as text with the reason, and in nobody's way. */
import { sql } from 'drizzle-orm'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { LineEvent } from '#shared/contracts/bot.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { isErasedSince } from '#shared/pilgrims/person-lock.ts'
import { refusedLineEvents } from '#shared/schema/messages.ts'
import { senderOf } from './apply-webhook-event.ts'

/** The database's own words: those of the query around it hold what was to be stored. */
function reasonOf(error: unknown): string {
  let cause = error
  while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause
  if (!(cause instanceof Error)) return 'not known'
  const code = 'code' in cause && typeof cause.code === 'string' ? ` (${cause.code})` : ''
  return `${cause.message}${code}`
}

/** Keeps an event, or what should have been one; delivered again, it is the same row. */
export async function setAside(
  { db, log, now }: ServiceContext,
  given: unknown,
  error: unknown,
): Promise<void> {
  const reason = reasonOf(error)
  // JSON writes what no column holds as an escape, so that any column holds the JSON.
  const event = JSON.stringify(given)
  const parsed = LineEvent.safeParse(given)
  const userId = parsed.success ? senderOf(parsed.data) : null
  await db.orm.transaction(async (tx) => {
    if (userId !== null && (await isErasedSince(tx, userId, parsed.data!.timestamp))) return
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
  log.warn('a webhook event can not be stored and is set aside', errorFields(error))
}

/** How many there are. */
export async function countSetAside({ db }: ServiceContext): Promise<number> {
  const [row] = await db.orm.select({ n: sql<number>`count(*)::int` }).from(refusedLineEvents)
  return row!.n
}
