/** Records in the audit log that an operator looks at one pilgrim's data. */
import { eq } from 'drizzle-orm'
import { unknownPilgrim } from '#shared/pilgrims/profile.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { pilgrims } from '#shared/stores/schema/tables.ts'
import { type Acting, audit } from '#shared/service/security/audit-log.ts'

/**
 * With this lock an erasure either waits for the transaction, or has already deleted the row. So the id of an erased
 * pilgrim is not written to the log again.
 * @returns whether the pilgrim is stored
 */
export async function lockOutErasure(tx: Tx, userId: string): Promise<boolean> {
  const row = tx.orm.select({ id: pilgrims.userId }).from(pilgrims).where(eq(pilgrims.userId, userId))
  return (await row.for('key share')).length > 0
}

/**
 * @param action what was done, with a format for an export
 * @param isStored whether the pilgrim had a row when it was read
 * @throws Refusal 404 when the pilgrim was erased since then
 */
export async function auditLook(
  { db, now }: ServiceContext,
  operator: Acting,
  userId: string,
  { action, ...how }: { readonly action: string; readonly format?: string },
  isStored: boolean,
): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await lockOutErasure(tx, userId)) && isStored) throw unknownPilgrim(userId)
    await audit(tx, operator, action, { user_id: userId, ...how }, now())
  })
}
