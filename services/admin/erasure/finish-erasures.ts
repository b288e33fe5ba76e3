/** The parts of an erasure outside its transaction. Each part is idempotent, and is repeated until it is done. */
import { and, eq, sql, gt } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import type { ErasurePart } from '#shared/contracts/erasure.ts'
import { userHash } from '#shared/stores/kv/kv.ts'
import { storeCounters } from '#shared/points/ledger/counters.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { isStoreUnavailable, type Repeated, repeated, eachApart } from '#shared/stores/repeated-work.ts'
import { cardKeysOf, cardKey, CARDS, namelessCardKey, userOfCard } from '#shared/stores/objects/pictures.ts'
import { deleteSpooled } from '#shared/stores/objects/spool.ts'
import { readErasure, lockPerson } from '#shared/pilgrims/person-lock.ts'
import { revokeKeys } from '#shared/pilgrims/tracker-keys.ts'
import { photoCountKey } from '#shared/pilgrims/photo-count-cache.ts'
import { erasing, erasures, shareCards } from '#shared/stores/schema/tables.ts'
import { addCounts, countErased, type Erasing, eraseRows, lockOutWriters } from './erase-rows.ts'

type Finishing = Pick<ServiceContext, 'db' | 'kv' | 'objects' | 'calendar' | 'config' | 'log'>

/** The parts run in this order, because everything else is computed from the rows. */
const PARTS: Readonly<Record<ErasurePart, (context: Finishing, row: Erasing) => Promise<Erasing | null>>> = {
  rows: eraseRestored,
  buffer: forgetInBuffer,
  objects: deleteObjects,
}

/**
 * Executes the remaining parts of an erasure as far as possible. Does not reject when a part fails: its row stays, and
 * the sweep repeats it.
 * @param noted called after each completed part
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
      // Another process has finished it meanwhile, or the person was erased again.
      if (after === null) return noted({ ...state, remaining: [] })
      state = after
      noted(state)
    } catch (error) {
      const level = isStoreUnavailable(error) ? 'warn' : 'error'
      const fields = { part, ...errorFields(error) }
      context.log[level]('a part of an erasure failed and will be repeated', fields)
      if (part === 'rows') return
    }
  }
}

/** Records a completed part. Deletes the row after the last part. Returns null when the erasure no longer exists. */
async function noteDone(
  { db }: Finishing,
  { subject, generation }: Erasing,
  part: ErasurePart,
  counts: Record<string, number>,
): Promise<Erasing | null> {
  const isThis = and(eq(erasing.subject, subject), eq(erasing.generation, generation))
  return db.transaction(async (tx) => {
    const [stored] = await tx.orm.select().from(erasing).where(isThis).for('update')
    if (stored === undefined) return null
    const remaining = stored.remaining.filter((other) => other !== part)
    const row = { ...stored, remaining, erased: addCounts(stored.erased, counts) }
    if (remaining.length === 0) await tx.orm.delete(erasing).where(isThis)
    else await tx.orm.update(erasing).set(row).where(isThis)
    return row
  })
}

/** Needed only after a restore, if the backup contained rows of a person who was erased later. */
async function eraseRestored(context: Finishing, row: Erasing): Promise<Erasing | null> {
  const { subject } = row
  return context.db.transaction(async (tx) => {
    await lockOutWriters(tx, subject)
    const [row] = await tx.orm.select().from(erasing).where(eq(erasing.subject, subject))
    if (row === undefined || !row.remaining.includes('rows')) return row ?? null
    const erasedRows = await eraseRows(tx, subject, context)
    await tx.orm
      .update(erasures)
      .set({ walked: sql`${erasures.walked} + ${Number(erasedRows.walked)}` })
      .where(eq(erasures.userHash, userHash(subject)))
    await countErased(tx, erasedRows)
    const after = {
      ...row,
      erased: addCounts(row.erased, erasedRows.rows),
      objects: [...row.objects, ...erasedRows.screenshots],
      trackers: [...row.trackers, ...erasedRows.trackers],
      remaining: row.remaining.filter((part) => part !== 'rows'),
    }
    await tx.orm.update(erasing).set(after).where(eq(erasing.subject, subject))
    return after
  })
}

async function forgetInBuffer(context: Finishing, row: Erasing): Promise<Erasing | null> {
  const { db, kv } = context
  const { subject, generation, erasedAt } = row
  // A consent given after this read updates the kv itself, before or after this call. The kv keeps the earlier time, so
  // the order does not matter.
  const known = await db.read(() => readErasure(db, subject))
  const erased = known ?? { generation, erasedMs: erasedAt.getTime(), stands: true }
  await revokeKeys(kv, row.trackers)
  const pending = await kv.erase(subject, erased, [photoCountKey(subject)])
  await storeCounters(db, kv)
  return noteDone(context, row, 'buffer', { pending })
}

async function deleteObjects(context: Finishing, row: Erasing): Promise<Erasing | null> {
  const { objects } = context
  let pictures = 0
  const remove = async (key: string): Promise<void> => {
    // Count damaged objects too: `head` rejects for them.
    if ((await objects.head(key).catch(() => undefined)) !== null) pictures++
    // Delete even if it seems missing: an interrupted write may have left a part of it.
    await objects.delete(key)
  }
  const ends = await Promise.allSettled([
    ...[...cardKeysOf(row.subject), ...row.objects].map(remove),
    deleteSpooled(objects, row.subject, row.erasedAt.getTime()),
  ])
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return noteDone(context, row, 'objects', { pictures })
}

// Repeats unfinished erasures, and removes data that late writers have left behind.

const EVERY_MS = 3_000
const LEFTOVERS_EVERY_MS = 300_000
/** A call whose caller has given up may still take effect for up to an hour. */
const LOOK_BACK_MS = 3_600_000

export async function finishErasures(context: Finishing): Promise<void> {
  const rows = await context.db.read(() => context.db.orm.select().from(erasing))
  for (const row of rows) await finishErasure(context, row)
}

/**
 * Removes cards that a late request stored for a person erased within the last hour; such cards have no row. An erasure
 * dated in the future only repeats work.
 */
export async function removeLeftovers({
  db,
  objects,
  now,
  ...reporting
}: Pick<ServiceContext, 'db' | 'objects' | 'now' | 'log' | 'metrics'>): Promise<void> {
  const rows = await db.read(() =>
    db.orm
      .select({ hash: erasures.userHash })
      .from(erasures)
      .where(gt(erasures.erasedAt, new Date(now() - LOOK_BACK_MS))),
  )
  if (rows.length === 0) return
  const erasedHashes = new Set(rows.map(({ hash }) => hash))
  const isGone = (userId: string | null): userId is string =>
    userId !== null && erasedHashes.has(userHash(userId))
  await eachApart(reporting, 'cards of erased people', objects.list(CARDS), async (key) => {
    const userId = userOfCard(key)
    if (!isGone(userId)) return
    await db.transaction(async (tx) => {
      // The lock keeps a card from being stored in the meantime.
      await lockPerson(tx, userId)
      const [row] = await tx.orm.select().from(shareCards).where(eq(shareCards.userId, userId))
      const etags = new Map([
        [cardKey(userId), row?.etag],
        [namelessCardKey(userId), row?.namelessEtag],
      ])
      if ((etags.get(key) ?? null) === null) await objects.delete(key)
    })
  })
}

export function createErasureSweep(context: ServiceContext): readonly Repeated[] {
  const { db, log, metrics } = context
  metrics.gauge('event_erasures_remaining', () => db.orm.$count(erasing))
  const failure = 'the sweep of erasures failed'
  return [
    repeated(log, failure, EVERY_MS, () => finishErasures(context)),
    repeated(log, failure, LEFTOVERS_EVERY_MS, () => removeLeftovers(context)),
  ]
}
