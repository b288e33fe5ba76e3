/** Writing a pilgrim's row: it is made when need be, and nothing that was not sent is touched. */
import { sql } from 'drizzle-orm'
import type { Writer } from '#shared/outbox.ts'
import { pilgrims } from '#shared/schema/profiles.ts'

type Row = typeof pilgrims.$inferSelect
export type PilgrimFields = Partial<Omit<Row, 'userId' | 'createdAt' | 'updatedAt'>>

/** Makes or changes a pilgrim in one statement, so that two first writes make one pilgrim. */
export async function upsertPilgrim(
  tx: Writer,
  userId: string,
  fields: PilgrimFields,
  nowMs: number,
): Promise<Row> {
  const at = new Date(nowMs)
  const [row] = await tx
    .insert(pilgrims)
    .values({ ...fields, userId, createdAt: at, updatedAt: at })
    .onConflictDoUpdate({ target: pilgrims.userId, set: { ...fields, updatedAt: at } })
    .returning()
  return row!
}

/** Adds counters to the stored ones; each given one replaces its namesake. */
export async function mergeReported(
  tx: Writer,
  userId: string,
  reported: { readonly consumption: Record<string, number>; readonly transport: Record<string, number> },
): Promise<void> {
  await tx.execute(sql`
    UPDATE pilgrims SET
      consumption = consumption || ${JSON.stringify(reported.consumption)}::text::jsonb,
      transport = transport || ${JSON.stringify(reported.transport)}::text::jsonb
    WHERE user_id = ${userId}`)
}
