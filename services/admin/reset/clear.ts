/**
 * Clearing what a rehearsal has left. What waits goes first and the database last, in one transaction: a reset that
 * dies in between leaves nothing that would flow into a database that is clear already, and the next one goes on.
 */
import { hostname, userInfo } from 'node:os'
import { eq, sql } from 'drizzle-orm'
import { ACTIVITY_ID, publishStatus } from '#shared/lifecycle/activity-status.ts'
import { audit } from '#shared/security/audit-log.ts'
import type { Operator } from '#shared/security/admin-auth.ts'
import { deleteJournals } from '#shared/buffer/journal/journal-export.ts'
import { followers } from '#shared/schema/messages.ts'
import { activity, erasures } from '#shared/schema/operations.ts'
import { expectStopped, type Installation, journalsOf } from '../backup/take-backup.ts'
import { CLEARED, type Contents, expectRehearsal, isPicture } from './rehearsal.ts'

/** Whoever sits at the machine; a container's user may have no name. */
function nameOfUser(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    return hostname()
  }
}

const operator = (): Operator => ({
  role: 'owner',
  level: 3,
  name: nameOfUser(),
  fingerprint: 'command line',
})

/**
 * Clears a rehearsal. The event is active afterwards, as a new one is.
 * @param contents what is there, for the audit log
 * @throws CommandRefused when the event has begun or a service runs; nothing is cleared then
 */
export async function clearRehearsal(installation: Installation, contents: Contents): Promise<void> {
  const { db, kv, objects, now } = installation
  await expectRehearsal(installation)
  const requestId = crypto.randomUUID()
  await audit(db.orm, operator(), 'reset', { state: 'begun', contents }, requestId, now())
  await deleteJournals(journalsOf(installation))
  await kv.clear()
  for await (const key of objects.list('')) if (isPicture(key)) await objects.delete(key)
  await db.orm.transaction(async (tx) => {
    // Numbers go on: those of events are known to the bus.
    await tx.execute(sql.raw(`TRUNCATE ${CLEARED.join(', ')}`))
    // The sums that they were still part of are gone.
    await tx.update(erasures).set({ walked: 0 })
    // Their names went with the pilgrims, and are asked for again.
    await tx.update(followers).set({ profileFetchedAt: null })
    await tx
      .update(activity)
      .set({
        status: 'active',
        version: sql`${activity.version} + 1`,
        message: null,
        changedAt: new Date(now()),
        changedBy: operator().name,
      })
      .where(eq(activity.id, ACTIVITY_ID))
    await audit(tx, operator(), 'reset', { state: 'done' }, requestId, now())
  })
  await publishStatus(db, kv)
  // One that was started meanwhile may have brought something back.
  await expectStopped(installation)
}
