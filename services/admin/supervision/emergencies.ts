/** Lists and confirms emergencies for the console. */
import { and, eq, gt, isNull, or, sql } from 'drizzle-orm'
import type { Emergency, EmergencyList } from '#shared/contracts/emergencies.ts'
import { readEmergencies } from '#shared/pilgrims/emergencies.ts'
import { notFound } from '#shared/runtime/refusal.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { type Acting, audit } from '#shared/service/security/audit-log.ts'
import { emergencies } from '#shared/stores/schema/tables.ts'
import { blankAlerts } from '../erasure/erase-rows.ts'
import { lockOutErasure } from '../pilgrims/audit-look.ts'

const DAY_MS = 86_400_000

/** All unconfirmed emergencies, and the confirmed ones of the last day. */
export async function listEmergencies(context: ServiceContext): Promise<EmergencyList> {
  const { db, now } = context
  const since = new Date(now() - DAY_MS)
  const { confirmedAt } = emergencies
  const items = await readEmergencies(context, or(isNull(confirmedAt), gt(confirmedAt, since))!)
  const unconfirmed = await db.orm.$count(emergencies, isNull(confirmedAt))
  return { items, unconfirmed }
}

/**
 * Confirms an emergency, and deletes the content of its alerts. A second confirmation changes nothing and returns the first.
 * @throws Refusal 404 if there is none with this id, for example because its pilgrim was erased
 */
export async function confirmEmergency(
  context: ServiceContext,
  operator: Acting,
  id: string,
): Promise<Emergency> {
  const { db, now } = context
  const isThis = eq(emergencies.id, id)
  await db.transaction(async (tx) => {
    const [row] = await tx.orm.select({ userId: emergencies.userId }).from(emergencies).where(isThis)
    // Lock in the same order as a press: the pilgrim before the emergency.
    if (row !== undefined) await lockOutErasure(tx, row.userId)
    const confirmed = await tx.orm
      .update(emergencies)
      .set({ confirmedAt: sql`now()`, confirmedBy: operator.name })
      .where(and(isThis, isNull(emergencies.confirmedAt)))
      .returning({ userId: emergencies.userId })
    for (const { userId } of confirmed) {
      // After the update, which waits for an alert that is being planned.
      await blankAlerts(tx, userId)
      await audit(tx, operator, 'confirm-emergency', { user_id: userId, id }, now())
    }
  })
  const [emergency] = await readEmergencies(context, isThis)
  if (emergency === undefined) throw notFound('There is no such emergency; its pilgrim may have been erased.')
  return emergency
}
