/**
 * Who writes about a person and who erases that person take turns: a lock in Postgres by the person's id. It is a
 * transaction's first statement, so that nobody waits for it who already holds a row.
 */
import { and, eq, gte, sql } from 'drizzle-orm'
import { Refusal } from '#shared/http/errors.ts'
import { userHash } from '#shared/kv/kv.ts'
import type { Writer } from '#shared/bus/outbox.ts'
import { erasing, erasures } from '#shared/schema/operations.ts'

/** Name of a person's lock: 64 bits of the hash, as Postgres writes them. */
export const lockKey = (userId: string): string =>
  BigInt.asIntN(64, BigInt(`0x${userHash(userId).slice(0, 16)}`)).toString()

/** Waits until nobody writes about the person, and keeps them waiting until the transaction ends. */
export async function lockPerson(tx: Writer, userId: string): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${lockKey(userId)}::bigint)`)
}

/** Waits for an erasure that is under way, and keeps the next one waiting until the transaction ends. */
export async function sharePerson(tx: Writer, userId: string): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock_shared(${lockKey(userId)}::bigint)`)
}

/** How often a person has been erased. */
export async function readGeneration(tx: Writer, userId: string): Promise<number> {
  const [row] = await tx
    .select({ generation: erasures.generation })
    .from(erasures)
    .where(eq(erasures.userHash, userHash(userId)))
  return row?.generation ?? 0
}

/**
 * Keeps an erasure waiting, and tells whether there was one.
 * @param sinceMs when what is to be written was said (epoch milliseconds)
 * @returns true: the person has been erased since, and nothing may be written
 */
export async function isErasedSince(tx: Writer, userId: string, sinceMs: number): Promise<boolean> {
  await sharePerson(tx, userId)
  const [row] = await tx
    .select({ generation: erasures.generation })
    .from(erasures)
    .where(and(eq(erasures.userHash, userHash(userId)), gte(erasures.erasedAt, new Date(sinceMs))))
  return row !== undefined
}

/**
 * Keeps an erasure waiting until the transaction ends.
 * @param sinceMs when the request came (epoch milliseconds)
 * @throws Refusal 409 when the person has been erased since
 */
export async function holdPerson(tx: Writer, userId: string, sinceMs: number): Promise<void> {
  if (await isErasedSince(tx, userId, sinceMs))
    throw new Refusal(
      409,
      'erased',
      'This pilgrim was erased while the request was on its way, so nothing of it is kept. Send it again to begin anew.',
    )
}

/** Of some people those who have not been erased since a moment (epoch milliseconds), in their order. */
export async function withoutErased(
  tx: Writer,
  userIds: readonly string[],
  sinceMs: number,
): Promise<string[]> {
  const rows = await tx
    .select({ hash: erasures.userHash })
    .from(erasures)
    .where(gte(erasures.erasedAt, new Date(sinceMs)))
  const gone = new Set(rows.map(({ hash }) => hash))
  return gone.size === 0 ? [...userIds] : userIds.filter((userId) => !gone.has(userHash(userId)))
}

/** Whether an erasure is under way: the buffer may still hold what the database has forgotten. */
export async function isBeingErased(tx: Writer, userId: string): Promise<boolean> {
  return (await tx.select().from(erasing).where(eq(erasing.subject, userId))).length > 0
}
