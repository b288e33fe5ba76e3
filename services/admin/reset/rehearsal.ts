/** Whether a reset may be: only before the event, with all services stopped; and what it would clear. */
import { existsSync, readdirSync } from 'node:fs'
import { time } from '#shared/contracts/fields.ts'
import { readSchema } from '#shared/db/migrate.ts'
import { CommandRefused } from '../backup/command-refused.ts'
import { expectStores, expectStopped, type Installation, journalsOf, TABLES } from '../backup/take-backup.ts'

/**
 * What is no rehearsal's: what operators have set up, what LINE tells only once, and who did what. Every other table
 * is cleared, one of a later release too.
 */
const KEPT: readonly string[] = [
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
export const CLEARED: readonly string[] = TABLES.filter((table) => !KEPT.includes(table))

/** Webhook events that wait beside the pictures are LINE's. */
export const isPicture = (key: string): boolean => /^(cards|screenshots)\//.test(key)

/** How much there is, by table or place. */
export type Contents = Readonly<Record<string, number>>

/** @throws CommandRefused unless it is certain that the event has not begun and that no service runs */
export async function expectRehearsal(installation: Installation): Promise<void> {
  const { config, db, now } = installation
  if (config.startsMs === null)
    throw new CommandRefused(
      'EVENT_STARTS_AT is not set, so nobody can tell a rehearsal from the event: set it to when the event begins.',
    )
  await expectStores(installation)
  if ((await readSchema(db.sql)).length === 0)
    throw new CommandRefused('The database is empty: there is nothing to clear.')
  const [clock] = await db.sql<{ ms: number }[]>`SELECT (extract(epoch FROM now()) * 1000)::float8 AS ms`
  // The clock that is ahead decides.
  if (Math.max(now(), clock!.ms) >= config.startsMs)
    throw new CommandRefused(
      `The event began at ${time(config.startsMs)}: what is stored is the event itself, and is not deleted.`,
    )
  await expectStopped(installation)
}

/** What there is of a rehearsal: rows by table, pilgrims whose points wait, files of journals, pictures. */
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
