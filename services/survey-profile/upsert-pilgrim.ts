/** Writes a pilgrim's row. Creates it if needed, and changes only the fields that were sent. */
import { eq } from 'drizzle-orm'
import { MAX_MODES, MAX_REPORTED_KM, normalizeModes } from '#shared/contracts/profile.ts'
import { invalid } from '#shared/runtime/refusal.ts'
import type { Writer } from '#shared/stores/bus/outbox.ts'
import { lockPersonUnlessErased } from '#shared/pilgrims/person-lock.ts'
import { addToReportTotals } from '#shared/pilgrims/report-totals.ts'
import { type Reported, reportedAmounts } from '#shared/core/rules/carbon.ts'
import { pilgrims } from '#shared/stores/schema/tables.ts'

type Row = typeof pilgrims.$inferSelect
type PilgrimFields = Partial<Omit<Row, 'userId' | 'createdAt' | 'updatedAt'>>

/**
 * Creates or changes a pilgrim in one statement, so that two concurrent first writes create one pilgrim. Must be the
 * first write of its transaction.
 * @param nowMs when the request was received
 * @throws Refusal 410 when the pilgrim was erased (`lockPersonUnlessErased`)
 */
export async function upsertPilgrim(
  tx: Writer,
  userId: string,
  fields: PilgrimFields,
  nowMs: number,
): Promise<Row> {
  await lockPersonUnlessErased(tx, userId, nowMs)
  const at = new Date(nowMs)
  const [row] = await tx
    .insert(pilgrims)
    .values({ ...fields, userId, createdAt: at, updatedAt: at })
    .onConflictDoUpdate({ target: pilgrims.userId, set: { ...fields, updatedAt: at } })
    .returning()
  return row!
}

/**
 * Merges reported amounts into a pilgrim whose row the transaction has locked. A given amount replaces the one of the
 * same name.
 * @throws Refusal 400 when the pilgrim would have reported too many modes, or too many kilometres of one
 */
export async function mergeReported(tx: Writer, held: Row, given: Reported): Promise<void> {
  const consumption = { ...held.consumption, ...given.consumption }
  const before = normalizeModes(held.transport)
  const transport = { ...before, ...given.transport }
  const modes = Object.keys(transport).length
  if (modes > MAX_MODES && modes > Object.keys(before).length)
    throw invalid(
      `transport: with those of earlier calls there would be ${modes} modes, and at most ${MAX_MODES} are possible; use their names`,
    )
  const was = reportedAmounts({ consumption: {}, transport: before })
  for (const [mode, { amount }] of reportedAmounts({ consumption: {}, transport }))
    if (amount > MAX_REPORTED_KM * 1e6 && amount > (was.get(mode)?.amount ?? 0))
      throw invalid(
        `transport: with those of earlier calls there would be more than 5,000 km by ${mode}; an unknown mode counts as bus`,
      )
  await tx.update(pilgrims).set({ consumption, transport }).where(eq(pilgrims.userId, held.userId))
  await addToReportTotals(tx, held, { consumption, transport })
}
