/** An erasure is written down: the rows go, the generation rises, and what is left to do stands in a row of its own. */
import { eq, sql } from 'drizzle-orm'
import { audit } from '#shared/security/audit-log.ts'
import type { Operator } from '#shared/security/admin-auth.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { time } from '#shared/contracts/fields.ts'
import { notFound, type Refusal, unavailable } from '#shared/http/errors.ts'
import { userHash } from '#shared/kv/kv.ts'
import { countPoints } from '#shared/ledger/stored-counters.ts'
import type { Writer } from '#shared/bus/outbox.ts'
import { erasing, erasures } from '#shared/schema/operations.ts'
import { eraseRows, type ErasedRows, lockOut, OUTSIDE } from './erase-rows.ts'

/** An erasure that is under way. */
export type Erasing = typeof erasing.$inferSelect

const NOTHING_OUTSIDE = { pending: 0, pictures: 0 }

/**
 * Erases a person from the database, and writes down what is left to do, in one transaction. While an earlier erasure is
 * under way, and nothing new is known of the person, that one goes on.
 * @param elsewhere what is known of them outside of the database; null: not known
 * @throws Refusal 404 where nothing is known anywhere; 503 where a store does not tell
 */
export async function recordErasure(
  { db, now, calendar }: Pick<ServiceContext, 'db' | 'now' | 'calendar'>,
  operator: Operator,
  userId: string,
  requestId: string,
  elsewhere: number | null,
): Promise<Erasing> {
  return db.orm.transaction(async (tx) => {
    await lockOut(tx, userId)
    // Behind the lock: whoever came before this moment, and has not written yet, finds the erasure.
    const erasedAt = new Date(now())
    const gone = await eraseRows(tx, userId, calendar)
    const [underWay] = await tx.select().from(erasing).where(eq(erasing.subject, userId))
    if (gone.mentions + Object.values(gone.rows).reduce((sum, rows) => sum + rows) === 0) {
      if (underWay !== undefined) return underWay
      if (elsewhere === null)
        throw unavailable('Whether anything is known of this pilgrim can not be told just now: try again.')
      if (elsewhere === 0) throw await unknown(tx, userId)
    }
    const generation = await raise(tx, userId, erasedAt, gone)
    await audit(tx, operator, 'erase-user', { user_hash: userHash(userId) }, requestId, erasedAt.getTime())
    const row: Erasing = {
      subject: userId,
      generation,
      erasedAt,
      erased: addCounts(underWay?.erased ?? NOTHING_OUTSIDE, gone.rows),
      objects: [...new Set([...(underWay?.objects ?? []), ...gone.screenshots])],
      remaining: [...OUTSIDE],
    }
    await tx.insert(erasing).values(row).onConflictDoUpdate({ target: erasing.subject, set: row })
    return row
  })
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
  const erased = before === undefined ? '' : ` It was erased at ${time(before.erasedAt.getTime())}.`
  return notFound(`Nothing is known of a pilgrim with the id ${userId}.${erased}`)
}

/** What was received before is not to come back. @returns the new generation */
async function raise(tx: Writer, userId: string, erasedAt: Date, gone: ErasedRows): Promise<number> {
  const walked = Number(gone.walked)
  const [row] = await tx
    .insert(erasures)
    .values({ userHash: userHash(userId), generation: 1, erasedAt, walked })
    .onConflictDoUpdate({
      target: erasures.userHash,
      set: {
        generation: sql`${erasures.generation} + 1`,
        erasedAt,
        walked: sql`${erasures.walked} + ${walked}`,
      },
    })
    .returning({ generation: erasures.generation })
  await countErased(tx, gone)
  return row!.generation
}

/** Books the points that went. */
export async function countErased(tx: Writer, { rows }: ErasedRows): Promise<void> {
  await countPoints(tx, 'points-erased', rows.gps_points)
  await countPoints(tx, 'letters-erased', rows.dead_letters)
}
