/** Writing a pilgrim's row: it is made when need be, and nothing that was not sent is touched. */
import { eq } from 'drizzle-orm'
import { foldModes, MAX_MODES } from '#shared/contracts/profile.ts'
import { invalid } from '#shared/http/errors.ts'
import type { Writer } from '#shared/bus/outbox.ts'
import { holdPerson } from '#shared/pilgrims/person-lock.ts'
import { addToReportTotals } from '#shared/pilgrims/report-totals.ts'
import type { Reported } from '#shared/rules/reported-carbon.ts'
import { pilgrims } from '#shared/schema/profiles.ts'

type Row = typeof pilgrims.$inferSelect
export type PilgrimFields = Partial<Omit<Row, 'userId' | 'createdAt' | 'updatedAt'>>

/**
 * Makes or changes a pilgrim in one statement, so that two first writes make one pilgrim. First in its transaction.
 * @param nowMs when the request came
 * @throws Refusal 409 when the pilgrim has been erased since
 */
export async function upsertPilgrim(
  tx: Writer,
  userId: string,
  fields: PilgrimFields,
  nowMs: number,
): Promise<Row> {
  await holdPerson(tx, userId, nowMs)
  const at = new Date(nowMs)
  const [row] = await tx
    .insert(pilgrims)
    .values({ ...fields, userId, createdAt: at, updatedAt: at })
    .onConflictDoUpdate({ target: pilgrims.userId, set: { ...fields, updatedAt: at } })
    .returning()
  return row!
}

/**
 * Adds counters to those of a pilgrim whose row the transaction holds; each given one replaces its namesake.
 * @throws Refusal 400 where the modes would be more than a pilgrim may report of
 */
export async function mergeReported(tx: Writer, held: Row, given: Reported): Promise<void> {
  const consumption = { ...held.consumption, ...given.consumption }
  const before = foldModes(held.transport)
  const transport = { ...before, ...given.transport }
  const modes = Object.keys(transport).length
  if (modes > MAX_MODES && modes > Object.keys(before).length)
    throw invalid(
      `transport: would come to ${modes} modes with those of earlier calls, and ${MAX_MODES} are possible; use their names`,
    )
  await tx.update(pilgrims).set({ consumption, transport }).where(eq(pilgrims.userId, held.userId))
  await addToReportTotals(tx, held, { consumption, transport })
}
