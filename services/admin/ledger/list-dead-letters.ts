/** Points that the database has refused, latest first. */
import { desc, eq, lt } from 'drizzle-orm'
import { z } from 'zod'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { type PageQuery, time } from '#shared/contracts/fields.ts'
import type { DeadLetter } from '#shared/contracts/ledger.ts'
import { notFound } from '#shared/http/errors.ts'
import { decodeCursor, encodeCursor, pageOf, RowId } from '#shared/http/pagination.ts'
import { deadLetters } from '#shared/schema/flushing.ts'

const LIST = 'dead-letters'

const shown = ({ createdAt, ...letter }: typeof deadLetters.$inferSelect): DeadLetter => ({
  ...letter,
  refused_at: time(createdAt.getTime()),
})

export async function listDeadLetters({ db }: ServiceContext, { limit, cursor }: PageQuery) {
  const before = cursor === undefined ? null : decodeCursor(LIST, cursor, z.tuple([RowId]))[0]
  const rows = await db.read(() =>
    db.orm
      .select()
      .from(deadLetters)
      .where(before === null ? undefined : lt(deadLetters.id, before))
      .orderBy(desc(deadLetters.id))
      .limit(limit + 1),
  )
  return pageOf(rows, limit, shown, ({ id }) => encodeCursor(LIST, [id]))
}

export const deadLetterNotFound = (id: number) => notFound(`There is no dead letter with the number ${id}.`)

/** @throws Refusal 404 */
export async function readDeadLetter({ db }: ServiceContext, id: number): Promise<DeadLetter> {
  const [row] = await db.read(() => db.orm.select().from(deadLetters).where(eq(deadLetters.id, id)))
  if (row === undefined) throw deadLetterNotFound(id)
  return shown(row)
}
