/**
 * Clears the data of a rehearsal. Pending points are deleted first and the database last, in one transaction. So a
 * reset that is killed leaves no pending points that a flush could write to a cleared database, and can be repeated.
 */
import { hostname, userInfo } from 'node:os'
import { eq, sql } from 'drizzle-orm'
import { ACTIVITY_ID } from '#shared/pilgrims/activity-status.ts'
import { publishStatus } from '#shared/pilgrims/kv-copies.ts'
import { audit } from '#shared/service/security/audit-log.ts'
import type { Operator } from '#shared/service/security/admin-auth.ts'
import { deleteJournals } from '#shared/points/journal/journal-export.ts'
import { followers, activity, erasures } from '#shared/stores/schema/tables.ts'
import { expectStopped, type Installation, journalsOf, expectStores, TABLES } from '../backup/take-backup.ts'
import { existsSync, readdirSync } from 'node:fs'
import { time } from '#shared/contracts/fields.ts'
import { readSchema } from '#shared/stores/db/migrate.ts'
import { CommandRefused } from '../backup/archive.ts'
import { isPicture } from '#shared/stores/objects/pictures.ts'

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

// Checks whether a reset is allowed (only before the event, with all services stopped), and what it would clear.

/**
 * Tables that a reset leaves: what operators have set up, what LINE sends only once, and the audit log. A reset clears
 * every other table, including those of later releases.
 */
const UNCLEARED: readonly string[] = [
  'activity',
  'audit_log',
  'role_assignments',
  'notification_plan',
  'erasures',
  'erasing',
  'followers',
  'line_events',
  'rich_menus',
]
export const CLEARED: readonly string[] = TABLES.filter((table) => !UNCLEARED.includes(table))

/** Number of items, by table or store. */
export type Contents = Readonly<Record<string, number>>

/** @throws CommandRefused unless the event has certainly not begun and no service runs */
export async function expectRehearsal(installation: Installation): Promise<void> {
  const { config, db, now } = installation
  if (config.startsMs === null)
    throw new CommandRefused(
      'EVENT_STARTS_AT is not set, so a rehearsal can not be distinguished from the event. Set it to the time when the event begins.',
    )
  await expectStores(installation)
  if ((await readSchema(db.sql)).length === 0)
    throw new CommandRefused('The database is empty: there is nothing to clear.')
  const [clock] = await db.sql<{ ms: number }[]>`SELECT (extract(epoch FROM now()) * 1000)::float8 AS ms`
  // The later of the two clocks decides.
  if (Math.max(now(), clock!.ms) >= config.startsMs)
    throw new CommandRefused(`The event began at ${time(config.startsMs)}. Its data are not deleted.`)
  await expectStopped(installation)
}

/** Counts the data of a rehearsal: rows by table, pilgrims with pending points, journal files, pictures. */
export async function readContents(installation: Installation): Promise<Contents> {
  const { db, kv, objects } = installation
  const found: Record<string, number> = {}
  for (const table of CLEARED) {
    const [row] = await db.sql.unsafe<{ n: number }[]>(`SELECT count(*)::int AS n FROM ${table}`)
    found[table] = row!.n
  }
  const journals = journalsOf(installation)
  found.waiting_pilgrims = await kv.bufferSize()
  found.journals = existsSync(journals) ? readdirSync(journals).length : 0
  found.pictures = (await Array.fromAsync(objects.list(''))).filter(isPicture).length
  return Object.fromEntries(Object.entries(found).filter(([, count]) => count > 0))
}
