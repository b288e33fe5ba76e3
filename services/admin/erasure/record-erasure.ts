/** Records an erasure: deletes the rows, raises the generation, and stores the remaining parts in a row of `erasing`. */
import { eq, sql } from 'drizzle-orm'
import { type Actor, audit } from '#shared/service/security/audit-log.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { time } from '#shared/contracts/fields.ts'
import { notFound, type Refusal, unavailable } from '#shared/runtime/refusal.ts'
import { isKvUnavailable, type Kv, userHash } from '#shared/stores/kv/kv.ts'
import { countPoints } from '#shared/points/ledger/stored-counters.ts'
import type { Writer } from '#shared/stores/bus/outbox.ts'
import { revokeKeys } from '#shared/pilgrims/tracker-keys.ts'
import { erasing, erasures } from '#shared/stores/schema/tables.ts'
import { eraseRows, type ErasedRows, lockOutWriters, OUTSIDE, readTrackerKeys } from './erase-rows.ts'

/** An erasure that is in progress. */
export type Erasing = typeof erasing.$inferSelect

const NOTHING_OUTSIDE = { pending: 0, pictures: 0 }

/**
 * Erases a person from the database, and records the remaining parts, in one transaction. When an earlier erasure is in
 * progress, and there is no new data about the person, returns the earlier one.
 * @param elsewhere number of their items outside of the database; null when a store is unavailable
 * @throws Refusal 404 when the person is unknown to all stores; 503 when a store is unavailable
 */
export async function recordErasure(
  { db, kv, now, calendar, config }: Pick<ServiceContext, 'db' | 'kv' | 'now' | 'calendar' | 'config'>,
  actor: Actor,
  userId: string,
  requestId: string,
  elsewhere: number | null,
): Promise<Erasing> {
  return db.orm.transaction(async (tx) => {
    await lockOutWriters(tx, userId)
    await refuseTrackers(kv, await readTrackerKeys(tx, userId))
    // The time is read under the lock, so that a writer that started earlier and has not written yet finds the erasure.
    const erasedAt = new Date(now())
    const gone = await eraseRows(tx, userId, { calendar, config })
    const [inProgress] = await tx.select().from(erasing).where(eq(erasing.subject, userId))
    if (gone.mentions + Object.values(gone.rows).reduce((sum, rows) => sum + rows) === 0) {
      if (inProgress !== undefined) return inProgress
      if (elsewhere === null)
        throw unavailable(
          'A store is unavailable, so it is not known whether this pilgrim exists. Please try again in a moment.',
        )
      if (elsewhere === 0) throw await unknown(tx, userId)
    }
    const generation = await raise(tx, userId, erasedAt, gone)
    await audit(tx, actor, 'erase-user', { user_hash: userHash(userId) }, requestId, erasedAt.getTime())
    const row: Erasing = {
      subject: userId,
      generation,
      erasedAt,
      erased: addCounts(inProgress?.erased ?? NOTHING_OUTSIDE, gone.rows),
      objects: [...new Set([...(inProgress?.objects ?? []), ...gone.screenshots])],
      trackers: [...new Set([...(inProgress?.trackers ?? []), ...gone.trackers])],
      remaining: [...OUTSIDE],
    }
    await tx.insert(erasing).values(row).onConflictDoUpdate({ target: erasing.subject, set: row })
    return row
  })
}

/**
 * Has the person's trackers refused before the time of the erasure, so that a request which still found the key is
 * older than the erasure. While the kv is unavailable this is done later, with the buffer.
 */
async function refuseTrackers(kv: Kv, hashes: readonly string[]): Promise<void> {
  try {
    await revokeKeys(kv, hashes)
  } catch (error) {
    if (!isKvUnavailable(error)) throw error
  }
}

export function addCounts(
  to: Readonly<Record<string, number>>,
  more: Readonly<Record<string, number>>,
): Record<string, number> {
  const sums = { ...to }
  for (const [name, count] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + count
  return sums
}

async function unknown(tx: Writer, userId: string): Promise<Refusal> {
  const [before] = await tx
    .select()
    .from(erasures)
    .where(eq(erasures.userHash, userHash(userId)))
  const erased = before === undefined ? '' : ` The last one was erased at ${time(before.erasedAt.getTime())}.`
  return notFound(`There is no pilgrim with the id ${userId}.${erased}`)
}

/** Raises the generation, so that points from before the erasure are dropped. @returns the new generation */
async function raise(tx: Writer, userId: string, erasedAt: Date, gone: ErasedRows): Promise<number> {
  const walked = Number(gone.walked)
  const [row] = await tx
    .insert(erasures)
    .values({ userHash: userHash(userId), generation: 1, erasedAt, stands: true, walked })
    .onConflictDoUpdate({
      target: erasures.userHash,
      set: {
        generation: sql`${erasures.generation} + 1`,
        erasedAt,
        stands: true,
        walked: sql`${erasures.walked} + ${walked}`,
      },
    })
    .returning({ generation: erasures.generation })
  await countErased(tx, gone)
  return row!.generation
}

/** Adds the deleted points to the ledger's counters. */
export async function countErased(tx: Writer, { rows }: ErasedRows): Promise<void> {
  await countPoints(tx, 'points-erased', rows.gps_points)
  await countPoints(tx, 'letters-erased', rows.dead_letters)
}
