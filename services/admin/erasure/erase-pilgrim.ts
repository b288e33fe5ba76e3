/** Erases a pilgrim from rows, buffer, live map, caches and pictures. Their share of the event's totals stays. */
import { type Actor, audit } from '#shared/service/security/audit-log.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { Erasure } from '#shared/contracts/erasure.ts'
import { within } from '#shared/runtime/deadline.ts'
import { isKvUnavailable, userHash, type KvKeys } from '#shared/stores/kv/kv.ts'
import { ObjectsUnavailable } from '#shared/stores/objects/objects.ts'
import { cardKey } from '#shared/stores/objects/pictures.ts'
import { finishErasure } from './finish-erasures.ts'
import { eq, sql } from 'drizzle-orm'
import { readErasure } from '#shared/pilgrims/person-lock.ts'
import { notFound, unavailable } from '#shared/runtime/refusal.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { revokeKeys } from '#shared/pilgrims/tracker-keys.ts'
import { erasing, erasures } from '#shared/stores/schema/tables.ts'
import {
  addCounts,
  countErased,
  type ErasedRows,
  eraseRows,
  type Erasing,
  lockOutWriters,
  OUTSIDE,
  readTrackerKeys,
} from './erase-rows.ts'

/** Maximum wait for deletions outside the database. Later ones continue in the background. */
const TIMEOUT_MS = 8_000

/**
 * Erases one pilgrim and returns a receipt, which lists the remaining parts. A repeated call continues with them.
 * @throws Refusal 404 for an unknown pilgrim; an error of the database, and then nothing is erased
 */
export async function eraseUser(context: ServiceContext, actor: Actor, userId: string): Promise<Erasure> {
  const elsewhere = await countElsewhere(context, userId)
  let state = await recordErasure(context, actor, userId, elsewhere)
  const finished = finishErasure(context, state, (noted) => (state = noted))
  await within(finished, TIMEOUT_MS, () => undefined)
  const { erased, erasedAt, remaining } = state
  return { erased, erased_at: time(erasedAt), remaining }
}

async function countElsewhere({ kv, objects }: ServiceContext, userId: string): Promise<number | null> {
  try {
    const pending = await kv.peek(userId)
    return pending.length + ((await objects.head(cardKey(userId))) === null ? 0 : 1)
  } catch (error) {
    if (isKvUnavailable(error) || error instanceof ObjectsUnavailable) return null
    throw error
  }
}

const NOTHING_OUTSIDE = { pending: 0, pictures: 0 }

/**
 * Erases a person from the database, and records the remaining parts, in one transaction. When an earlier erasure is in
 * progress, and there is no new data about the person, returns the earlier one.
 * @param elsewhere number of their items outside the database; null when a store is unavailable
 * @throws Refusal 404 when the person is unknown to all stores; 503 when a store is unavailable
 */
async function recordErasure(
  { db, kv, now, calendar, config }: Pick<ServiceContext, 'db' | 'kv' | 'now' | 'calendar' | 'config'>,
  actor: Actor,
  userId: string,
  elsewhere: number | null,
): Promise<Erasing> {
  return db.transaction(async (tx) => {
    await lockOutWriters(tx, userId)
    await refuseTrackers(kv, await readTrackerKeys(tx, userId))
    // The time is read under the lock, so that a writer that started earlier and has not written yet finds the erasure.
    const erasedAt = new Date(now())
    const erasedRows = await eraseRows(tx, userId, { calendar, config })
    const [inProgress] = await tx.orm.select().from(erasing).where(eq(erasing.subject, userId))
    if (erasedRows.mentions + Object.values(erasedRows.rows).reduce((sum, rows) => sum + rows) === 0) {
      if (inProgress !== undefined) return inProgress
      if (elsewhere === null)
        throw unavailable(
          'A store is unavailable, so it is not known whether this pilgrim exists. Please try again in a moment.',
        )
      if (elsewhere === 0) {
        const before = await readErasure(tx, userId)
        const erased = before && ` The last one was erased at ${time(before.erasedMs)}.`
        throw notFound(`There is no pilgrim with the id ${userId}.${erased ?? ''}`)
      }
    }
    const generation = await raise(tx, userId, erasedAt, erasedRows)
    await audit(tx, actor, 'erase-user', { user_hash: userHash(userId) }, erasedAt.getTime())
    const row: Erasing = {
      subject: userId,
      generation,
      erasedAt,
      erased: addCounts(inProgress?.erased ?? NOTHING_OUTSIDE, erasedRows.rows),
      objects: [...new Set([...(inProgress?.objects ?? []), ...erasedRows.screenshots])],
      trackers: [...new Set([...(inProgress?.trackers ?? []), ...erasedRows.trackers])],
      remaining: [...OUTSIDE],
    }
    await tx.orm.insert(erasing).values(row).onConflictDoUpdate({ target: erasing.subject, set: row })
    return row
  })
}

/**
 * Revokes the person's trackers before the time of the erasure, so that a request which still found the key is older
 * than the erasure. While the kv is unavailable this is done later, with the buffer.
 */
async function refuseTrackers(kv: KvKeys, hashes: readonly string[]): Promise<void> {
  try {
    await revokeKeys(kv, hashes)
  } catch (error) {
    if (!isKvUnavailable(error)) throw error
  }
}

/** Raises the generation, so that points from before the erasure are dropped. @returns the new generation */
async function raise(tx: Tx, userId: string, erasedAt: Date, erasedRows: ErasedRows): Promise<number> {
  const walked = Number(erasedRows.walked)
  const [row] = await tx.orm
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
  await countErased(tx, erasedRows)
  return row!.generation
}
