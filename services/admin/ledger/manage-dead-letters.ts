/** Points that the database has rejected, latest first. */
import { desc, eq, lt, and } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import { type PageQuery, time, isUserId } from '#shared/contracts/fields.ts'
import type { DeadLetter, Replayed } from '#shared/contracts/ledger.ts'
import { notFound, conflict } from '#shared/runtime/refusal.ts'
import { readPage, RowId } from '#shared/service/http/pagination.ts'
import { deadLetters } from '#shared/stores/schema/tables.ts'
import { type Acting, audit } from '#shared/service/security/audit-log.ts'
import { partitionOf, userHash } from '#shared/stores/kv/kv.ts'
import { countPoints } from '#shared/points/ledger/counters.ts'
import { isOfErasedPerson, lockPersonShared } from '#shared/pilgrims/person-lock.ts'

type Letter = typeof deadLetters.$inferSelect

/** A requeued letter is pending: operators neither see nor change it. */
const isOpen = eq(deadLetters.requeued, false)
const openLetter = (id: number) => and(eq(deadLetters.id, id), isOpen)

const shown = ({ createdAt, requeued: _requeued, ...letter }: Letter): DeadLetter => ({
  ...letter,
  refused_at: time(createdAt),
})

export const listDeadLetters = ({ db }: ServiceContext, query: PageQuery) =>
  readPage(
    'dead-letters',
    [RowId],
    query,
    (before, limit) =>
      db.read(() =>
        db.orm
          .select()
          .from(deadLetters)
          .where(and(isOpen, before === null ? undefined : lt(deadLetters.id, before[0])))
          .orderBy(desc(deadLetters.id))
          .limit(limit),
      ),
    shown,
    ({ id }) => [id],
  )

const deadLetterNotFound = (id: number) => notFound(`There is no dead letter with the number ${id}.`)

/** @throws Refusal 404 */
export const readDeadLetter = async (context: ServiceContext, id: number): Promise<DeadLetter> =>
  shown(await readLetter(context, id))

/**
 * Requeues a dead letter: the next flush stores its point, or refuses it again with the new reason.
 * @throws Refusal 404, or 409 for a point that no flush can store
 */
export async function requeueDeadLetter(
  context: ServiceContext,
  operator: Acting,
  id: number,
): Promise<Replayed> {
  const { db, now } = context
  const letter = await readLetter(context, id)
  if (!isEntry(letter))
    throw conflict('This dead letter is not a valid point, so it cannot be requeued. It can be dropped.')
  return db.transaction(async (tx) => {
    await lockPersonShared(tx, letter.userId)
    const isErased = await isOfErasedPerson(tx, letter.userId, letter.value)
    const rows = isErased
      ? await tx.orm.delete(deadLetters).where(openLetter(id)).returning()
      : await tx.orm.update(deadLetters).set({ requeued: true }).where(openLetter(id)).returning()
    if (rows.length === 0) throw deadLetterNotFound(id)
    if (isErased) await countPoints(tx, 'letters-erased', 1)
    const outcome = isErased ? 'erased' : 'replayed'
    // The audit log must not contain the id of an erased person.
    const ofWhom = isErased ? { user_hash: userHash(letter.userId) } : { user_id: letter.userId }
    await audit(tx, operator, 'replay-dead-letter', { id, ...ofWhom, outcome }, now())
    return { id, outcome }
  })
}

/** Drops a dead letter. @throws Refusal 404; KvUnavailable, and then the row stays */
export async function dropDeadLetter(
  context: ServiceContext,
  operator: Acting,
  id: number,
): Promise<{ id: number }> {
  const { db, kv, now } = context
  const letter = await readLetter(context, id)
  const { userId, field, value } = letter
  // A flush that died before its acknowledgement has left the point in the buffer too, and the next flush would make it
  // a dead letter again.
  if (isEntry(letter))
    await kv.acknowledge(partitionOf(userId, kv.partitions), [{ userId, entries: [{ field, value }] }])
  await db.transaction(async (tx) => {
    const [gone] = await tx.orm.delete(deadLetters).where(openLetter(id)).returning()
    if (gone === undefined) throw deadLetterNotFound(id)
    await countPoints(tx, 'letters-dropped', 1)
    await audit(tx, operator, 'drop-dead-letter', { id, user_id: gone.userId }, now())
  })
  return { id }
}

async function readLetter({ db }: ServiceContext, id: number): Promise<Letter> {
  const [letter] = await db.read(() => db.orm.select().from(deadLetters).where(openLetter(id)))
  if (letter === undefined) throw deadLetterNotFound(id)
  return letter
}

/** Whether the buffer can store it: a valid user id, and no line breaks. */
const isEntry = ({ userId, field, value }: Letter): boolean => isUserId(userId) && !/\n/.test(field + value)
