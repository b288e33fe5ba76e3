/**
 * An advisory lock in Postgres per person: writers share it, an erasure takes it exclusively. It must be the first
 * statement of a transaction, so that no transaction waits for it while it holds row locks.
 */
import { eq, gte, or } from 'drizzle-orm'
import { erasedPerson } from '#shared/runtime/refusal.ts'
import { personLockKey, type Tx } from '#shared/stores/db/db.ts'
import { type Erased, isOfErased, readStamp, receivedMsOf, userHash } from '#shared/stores/kv/kv.ts'
import { erasing, erasures, pilgrims } from '#shared/stores/schema/tables.ts'

/** Takes the exclusive lock until the transaction ends. */
export async function lockPerson(tx: Tx, userId: string): Promise<void> {
  await tx.sql`SELECT pg_advisory_xact_lock(${personLockKey(userHash(userId))}::bigint)`
}

/** Takes the shared lock until the transaction ends: waits for a running erasure and delays the next one. */
export async function lockPersonShared(tx: Tx, userId: string): Promise<void> {
  await tx.sql`SELECT pg_advisory_xact_lock_shared(${personLockKey(userHash(userId))}::bigint)`
}

/** Number of erasures of a person so far. */
export const readGeneration = async (tx: Tx, userId: string): Promise<number> =>
  (await readErasure(tx, userId))?.generation ?? 0

/** The latest erasures of the given people, by user id; people who were never erased are missing. */
export async function readErasuresOf(tx: Tx, userIds: readonly string[]): Promise<Map<string, Erased>> {
  const byHash = new Map(userIds.map((userId) => [userHash(userId), userId]))
  const rows = await tx.sql<Required<Erased>[]>`
    SELECT user_hash AS "userHash", generation, stands, epoch_ms(erased_at) AS "erasedMs"
    FROM erasures WHERE user_hash = ANY(${[...byHash.keys()]}::text[])`
  return new Map(rows.map((row) => [byHash.get(row.userHash)!, row]))
}

/** The latest erasure of a person; undefined for a person who was never erased. */
export const readErasure = async (tx: Tx, userId: string): Promise<Erased | undefined> =>
  (await readErasuresOf(tx, [userId])).get(userId)

/** Whether a value of the buffer belongs to a person who was erased since it was admitted (`isOfErased`). */
export async function isOfErasedPerson(tx: Tx, userId: string, value: string): Promise<boolean> {
  const erased = await readErasure(tx, userId)
  const { generation } = readStamp(value)
  return erased !== undefined && isOfErased(erased, { generation, receivedMs: receivedMsOf(value) })
}

/** Takes each shared lock. @returns the latest erasures by user id, without people who were never erased */
export async function lockedErasures(tx: Tx, userIds: readonly string[]): Promise<Map<string, Erased>> {
  const keys = userIds.map((userId) => personLockKey(userHash(userId)))
  await tx.sql`SELECT pg_advisory_xact_lock_shared(key::bigint) FROM unnest(${keys}::text[]) AS key`
  return readErasuresOf(tx, userIds)
}

/** Takes the shared lock. @returns the latest erasure of a person; undefined for a person who was never erased */
async function lockedErasure(tx: Tx, userId: string) {
  await lockPersonShared(tx, userId)
  return readErasure(tx, userId)
}

/**
 * Takes the shared lock and checks for an erasure.
 * @param sinceMs time of origin of the data to write (epoch milliseconds)
 * @returns true if the person was erased after that time
 */
export async function isErasedSince(tx: Tx, userId: string, sinceMs: number): Promise<boolean> {
  const erasure = await lockedErasure(tx, userId)
  return erasure !== undefined && erasure.erasedMs >= sinceMs
}

/**
 * Takes the shared lock and checks whether data of a person may be written.
 * @param sinceMs time of origin of the data to write (epoch milliseconds)
 * @returns false if the person was erased after that time, or was erased and has not consented again
 */
export async function mayWrite(tx: Tx, userId: string, sinceMs: number): Promise<boolean> {
  const erasure = await lockedErasure(tx, userId)
  return erasure === undefined || (!erasure.stands && erasure.erasedMs < sinceMs)
}

/**
 * Takes the shared lock until the transaction ends.
 * @param sinceMs time of the request (epoch milliseconds)
 * @throws Refusal 410 if the person was erased and has not consented again, or was erased after that time
 */
export async function lockPersonUnlessErased(tx: Tx, userId: string, sinceMs: number): Promise<void> {
  if (!(await mayWrite(tx, userId, sinceMs))) throw erasedPerson()
}

/**
 * Lets an erased person start again, because they consent. Data from before the erasure stay rejected. The erasure is
 * dated halfway to the consent: erasure, consent and points have the times of different clocks, and between erasure and
 * consent nothing of the person was accepted.
 * @param nowMs time of the consent (epoch milliseconds)
 * @returns their erasure, for the kv; undefined for a person who was never erased
 * @throws Refusal 410 if the person was erased after that time
 */
export async function beginAnew(tx: Tx, userId: string, nowMs: number): Promise<Erased | undefined> {
  const erasure = await lockedErasure(tx, userId)
  if (erasure === undefined) return undefined
  if (erasure.erasedMs >= nowMs) throw erasedPerson()
  if (!erasure.stands) return erasure
  const erasedMs = Math.floor((erasure.erasedMs + nowMs) / 2)
  await tx.orm
    .update(erasures)
    .set({ stands: false, erasedAt: new Date(erasedMs) })
    .where(eq(erasures.userHash, userHash(userId)))
  return { ...erasure, erasedMs, stands: false }
}

/** Filters out people who are erased, or were erased after a time (epoch milliseconds); keeps the order. */
export async function withoutErased(tx: Tx, userIds: readonly string[], sinceMs: number): Promise<string[]> {
  const rows = await tx.orm
    .select({ hash: erasures.userHash })
    .from(erasures)
    .where(or(erasures.stands, gte(erasures.erasedAt, new Date(sinceMs))))
  const erasedHashes = new Set(rows.map(({ hash }) => hash))
  return erasedHashes.size === 0
    ? [...userIds]
    : userIds.filter((userId) => !erasedHashes.has(userHash(userId)))
}

/** Whether an erasure is in progress: the buffer may still hold points that the database has deleted. */
export async function isBeingErased(tx: Tx, userId: string): Promise<boolean> {
  return (await tx.orm.select().from(erasing).where(eq(erasing.subject, userId))).length > 0
}

/** Key of the advisory lock for changes of recipients in the message ledger, by pushes and by erasures. */
const RECIPIENTS_LOCK = 20_260_415

/**
 * Takes the exclusive lock until the transaction ends. Call it before recipients are selected: concurrent pushes then
 * see each other's use of the quota, and no erased person is selected.
 */
export async function lockRecipients(tx: Tx): Promise<void> {
  await tx.sql`SELECT pg_advisory_xact_lock(${RECIPIENTS_LOCK})`
}

/**
 * Creates a pilgrim's row unless it exists. Must be the first statement of its transaction.
 * @param nowMs time of the request (epoch milliseconds)
 * @throws Refusal 410 when the pilgrim was erased (`lockPersonUnlessErased`)
 */
export async function ensurePilgrim(tx: Tx, userId: string, nowMs: number): Promise<void> {
  await lockPersonUnlessErased(tx, userId, nowMs)
  const at = new Date(nowMs)
  await tx.orm.insert(pilgrims).values({ userId, createdAt: at, updatedAt: at }).onConflictDoNothing()
}

/**
 * Locks a pilgrim's row until the transaction ends, which serializes writes that count existing rows.
 * @returns the row; undefined when there is none
 */
export async function lockPilgrim(tx: Tx, userId: string): Promise<typeof pilgrims.$inferSelect | undefined> {
  const [row] = await tx.orm.select().from(pilgrims).where(eq(pilgrims.userId, userId)).for('update')
  return row
}
