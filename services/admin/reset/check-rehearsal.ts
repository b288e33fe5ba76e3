/** Checks whether a reset is allowed (only before the event, with all services stopped), and what it would clear. */
import { existsSync, readdirSync } from 'node:fs'
import { time } from '#shared/contracts/fields.ts'
import { readSchema } from '#shared/db/migrate.ts'
import { CommandRefused } from '../backup/command-refused.ts'
import { expectStores, expectStopped, type Installation, journalsOf, TABLES } from '../backup/take-backup.ts'

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

/** The object store also holds webhook events, which a reset does not delete. */
export const isPicture = (key: string): boolean => /^(cards|screenshots)\//.test(key)

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
