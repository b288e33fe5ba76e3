/** Points that the database has rejected, latest first. */
import { desc, eq, lt } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import { type PageQuery, time, isUserId } from '#shared/contracts/fields.ts'
import type { DeadLetter, Replayed } from '#shared/contracts/ledger.ts'
import { notFound, conflict } from '#shared/runtime/refusal.ts'
import { readPage, RowId } from '#shared/service/http/pagination.ts'
import { deadLetters } from '#shared/stores/schema/tables.ts'
import { type Acting, audit } from '#shared/service/security/audit-log.ts'
import { partitionOf, userHash } from '#shared/stores/kv/kv.ts'
import { countPoints, countSlice } from '#shared/points/ledger/counters.ts'
import { isOfErasedPerson, lockPersonShared } from '#shared/pilgrims/person-lock.ts'

type Letter = typeof deadLetters.$inferSelect

const isLetter = (id: number) => eq(deadLetters.id, id)

const shown = ({ createdAt, ...letter }: Letter): DeadLetter => ({
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
          .where(before === null ? undefined : lt(deadLetters.id, before[0]))
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
 * @throws Refusal 404, or 409 for a point that no flush can store; KvUnavailable, and then the row stays as it is
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
  await acknowledge(context, letter)
  return db.transaction(async (tx) => {
    await lockPersonShared(tx, letter.userId)
    const isErased = await isOfErasedPerson(tx, letter.userId, letter.value)
    const rows = isErased
      ? await tx.orm.delete(deadLetters).where(isLetter(id)).returning()
      : await tx.orm.update(deadLetters).set({ requeued: true }).where(isLetter(id)).returning()
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
  const { db, now } = context
  const letter = await readLetter(context, id)
  if (isEntry(letter)) await acknowledge(context, letter)
  await db.transaction(async (tx) => {
    const [gone] = await tx.orm.delete(deadLetters).where(isLetter(id)).returning()
    if (gone === undefined) throw deadLetterNotFound(id)
    await countPoints(tx, 'letters-dropped', 1)
    await audit(tx, operator, 'drop-dead-letter', { id, user_id: gone.userId }, now())
  })
  return { id }
}

/**
 * Deletes the letter's point from the buffer, where a flush that died before its acknowledgement has left it, or a
 * journal has put it again. It is counted first: the kv has settled no point that Postgres does not count.
 */
async function acknowledge({ db, kv }: ServiceContext, { userId, field, value }: Letter): Promise<void> {
  const partition = partitionOf(userId, kv.partitions)
  const epoch = await kv.epoch(partition)
  const pending = await kv.peek(userId)
  if (!pending.some((entry) => entry.field === field && entry.value === value)) return
  await db.transaction((tx) => countSlice(tx, { epoch, partition }, { stored: 0, repeated: 1, erased: 0 }))
  await kv.acknowledge(partition, [{ userId, entries: [{ field, value }] }], epoch)
}

async function readLetter({ db }: ServiceContext, id: number): Promise<Letter> {
  const [letter] = await db.read(() => db.orm.select().from(deadLetters).where(isLetter(id)))
  if (letter === undefined) throw deadLetterNotFound(id)
  return letter
}

/** Whether the buffer can store it: a valid user id, and no line breaks. */
const isEntry = ({ userId, field, value }: Letter): boolean => isUserId(userId) && !/\n/.test(field + value)
