/**
 * Clears the data of a rehearsal. Pending points are deleted first and the database last, in one transaction. So a
 * reset that is killed leaves no pending points that a flush could write to a cleared database, and can be repeated.
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
import { CLEARED, type Contents, expectRehearsal, isPicture } from './check-rehearsal.ts'

/** The user who runs the command. A container's user may have no name. */
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
 * Clears a rehearsal. The event is active afterwards, like a new one.
 * @param contents what is stored, for the audit log
 * @throws CommandRefused when the event has begun or a service runs; then nothing is cleared
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
    // Sequences are not restarted, because the bus knows the numbers of events.
    await tx.execute(sql.raw(`TRUNCATE ${CLEARED.join(', ')}`))
    // The totals that still included erased people are deleted.
    await tx.update(erasures).set({ walked: 0 })
    // Their names were deleted with the pilgrims, and are fetched again.
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
  // A service that was started meanwhile may have written something.
  await expectStopped(installation)
}
