/** What an erasure deletes outside of its transaction. Each part is safe to repeat, and repeated until it is done. */
import { and, eq, sql } from 'drizzle-orm'
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { ErasurePart } from '#shared/contracts/erasure.ts'
import { isDatabaseUnavailable } from '#shared/db/db.ts'
import { isKvUnavailable, userHash } from '#shared/kv/kv.ts'
import { storeCounters } from '#shared/ledger/stored-counters.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { ObjectsUnavailable } from '#shared/objects/objects.ts'
import { cardKey } from '#shared/objects/pictures.ts'
import { deleteSpooled } from '#shared/objects/spooled-webhook-events.ts'
import { photoCountKey } from '#shared/pilgrims/photo-count-cache.ts'
import { erasing, erasures } from '#shared/schema/operations.ts'
import { countErased, addCounts, type Erasing } from './record-erasure.ts'
import { eraseRows, lockOut } from './erase-rows.ts'

export type Finishing = Pick<ServiceContext, 'db' | 'kv' | 'objects' | 'calendar' | 'log'>

/** In this order: the rows are what all else was made of. */
const PARTS: Readonly<Record<ErasurePart, (context: Finishing, row: Erasing) => Promise<Erasing | null>>> = {
  rows: eraseRestored,
  buffer: forgetInBuffer,
  objects: deleteObjects,
}

/**
 * Does what an erasure has left to do, as far as that is possible now. Never rejects for a part that can not be done:
 * its row stays, and the sweep repeats it.
 * @param noted told of each part that is done
 */
export async function finishErasure(
  context: Finishing,
  row: Erasing,
  noted: (row: Erasing) => void = () => undefined,
): Promise<void> {
  let state = row
  for (const [part, run] of Object.entries(PARTS) as [ErasurePart, (typeof PARTS)[ErasurePart]][]) {
    if (!state.remaining.includes(part)) continue
    try {
      const after = await run(context, state)
      // Somebody else has finished it meanwhile, or the person was erased once more.
      if (after === null) return noted({ ...state, remaining: [] })
      state = after
      noted(state)
    } catch (error) {
      const away =
        isKvUnavailable(error) || error instanceof ObjectsUnavailable || isDatabaseUnavailable(error)
      context.log[away ? 'warn' : 'error']('a part of an erasure is repeated later', {
        part,
        ...errorFields(error),
      })
      if (part === 'rows') return
    }
  }
}

/** Notes that a part is done; with the last one the row goes. Null where there is no such erasure any more. */
async function noteDone(
  { db }: Finishing,
  { subject, generation }: Erasing,
  part: ErasurePart,
  counts: Record<string, number>,
): Promise<Erasing | null> {
  const mine = and(eq(erasing.subject, subject), eq(erasing.generation, generation))
  return db.orm.transaction(async (tx) => {
    const [held] = await tx.select().from(erasing).where(mine).for('update')
    if (held === undefined) return null
    const remaining = held.remaining.filter((other) => other !== part)
    const row = { ...held, remaining, erased: addCounts(held.erased, counts) }
    if (remaining.length === 0) await tx.delete(erasing).where(mine)
    else await tx.update(erasing).set(row).where(mine)
    return row
  })
}

/** Only after a restore: a backup brought back rows of somebody who has been erased since it was made. */
async function eraseRestored(context: Finishing, row: Erasing): Promise<Erasing | null> {
  const { subject } = row
  return context.db.orm.transaction(async (tx) => {
    await lockOut(tx, subject)
    const [held] = await tx.select().from(erasing).where(eq(erasing.subject, subject))
    if (held === undefined || !held.remaining.includes('rows')) return held ?? null
    const gone = await eraseRows(tx, subject, context.calendar)
    await tx
      .update(erasures)
      .set({ walked: sql`${erasures.walked} + ${Number(gone.walked)}` })
      .where(eq(erasures.userHash, userHash(subject)))
    await countErased(tx, gone)
    const after = {
      ...held,
      erased: addCounts(held.erased, gone.rows),
      objects: [...held.objects, ...gone.screenshots],
      remaining: held.remaining.filter((part) => part !== 'rows'),
    }
    await tx.update(erasing).set(after).where(eq(erasing.subject, subject))
    return after
  })
}

async function forgetInBuffer(context: Finishing, row: Erasing): Promise<Erasing | null> {
  const { db, kv } = context
  const { subject, generation, erasedAt } = row
  const erased = { generation, erasedMs: erasedAt.getTime() }
  const pending = await kv.erase(subject, erased, [photoCountKey(subject)])
  await storeCounters(db, kv)
  return noteDone(context, row, 'buffer', { pending })
}

async function deleteObjects(context: Finishing, row: Erasing): Promise<Erasing | null> {
  const { objects } = context
  let pictures = 0
  for (const key of [cardKey(row.subject), ...row.objects]) {
    if ((await objects.head(key)) !== null) pictures++
    // Also where there is none: a write that was broken off may have left its beginning.
    await objects.delete(key)
  }
  await deleteSpooled(objects, row.subject, row.erasedAt.getTime())
  return noteDone(context, row, 'objects', { pictures })
}
