/**
 * An advisory lock in Postgres per person: writers share it, an erasure takes it exclusively. It must be the first
 * statement of a transaction, so that no transaction waits for it while it holds row locks.
 */
import { and, eq, gte, sql } from 'drizzle-orm'
import { Refusal } from '#shared/http/errors.ts'
import { userHash } from '#shared/kv/kv.ts'
import type { Writer } from '#shared/bus/outbox.ts'
import { erasing, erasures } from '#shared/schema/operations.ts'

/** Key of a person's lock: 64 bits of the hash, as a decimal bigint. */
export const personLockKey = (userId: string): string =>
  BigInt.asIntN(64, BigInt(`0x${userHash(userId).slice(0, 16)}`)).toString()

/** Takes the exclusive lock until the transaction ends. */
export async function lockPerson(tx: Writer, userId: string): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${personLockKey(userId)}::bigint)`)
}

/** Takes the shared lock until the transaction ends: waits for a running erasure and delays the next one. */
export async function lockPersonShared(tx: Writer, userId: string): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock_shared(${personLockKey(userId)}::bigint)`)
}

/** Number of erasures of a person so far. */
export async function readGeneration(tx: Writer, userId: string): Promise<number> {
  const [row] = await tx
    .select({ generation: erasures.generation })
    .from(erasures)
    .where(eq(erasures.userHash, userHash(userId)))
  return row?.generation ?? 0
}

/**
 * Takes the shared lock and checks for an erasure.
 * @param sinceMs time of origin of the data to write (epoch milliseconds)
 * @returns true if the person has been erased since, so that nothing may be written
 */
export async function isErasedSince(tx: Writer, userId: string, sinceMs: number): Promise<boolean> {
  await lockPersonShared(tx, userId)
  const [row] = await tx
    .select({ generation: erasures.generation })
    .from(erasures)
    .where(and(eq(erasures.userHash, userHash(userId)), gte(erasures.erasedAt, new Date(sinceMs))))
  return row !== undefined
}

/**
 * Takes the shared lock until the transaction ends.
 * @param sinceMs time of the request (epoch milliseconds)
 * @throws Refusal 409 if the person has been erased since
 */
export async function lockPersonUnlessErased(tx: Writer, userId: string, sinceMs: number): Promise<void> {
  if (await isErasedSince(tx, userId, sinceMs))
    throw new Refusal(
      409,
      'erased',
      'This pilgrim was erased while the request was being processed, so nothing was stored. Send it again to start anew.',
    )
}

/** Filters out people who were erased since a time (epoch milliseconds); keeps the order. */
export async function withoutErased(
  tx: Writer,
  userIds: readonly string[],
  sinceMs: number,
): Promise<string[]> {
  const rows = await tx
    .select({ hash: erasures.userHash })
    .from(erasures)
    .where(gte(erasures.erasedAt, new Date(sinceMs)))
  const erasedHashes = new Set(rows.map(({ hash }) => hash))
  return erasedHashes.size === 0
    ? [...userIds]
    : userIds.filter((userId) => !erasedHashes.has(userHash(userId)))
}

/** Whether an erasure is in progress: the buffer may still hold points that the database has deleted. */
export async function isBeingErased(tx: Writer, userId: string): Promise<boolean> {
  return (await tx.select().from(erasing).where(eq(erasing.subject, userId))).length > 0
}
