/**
 * `bun run reset`: deletes the data of rehearsals, before the event. Pending points are deleted first and the database
 * last, in one transaction. So a reset that is killed leaves no pending points that a flush could write to a cleared
 * database, and can be repeated.
 */
import { createInterface } from 'node:readline/promises'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { runCommand, screen, withInstallation } from './backup/command.ts'
import { CommandRefused } from './backup/archive.ts'
import {
  deleteKeptPoints,
  type Installation,
  expectStopped,
  journalsOf,
  expectStores,
  TABLES,
} from './backup/take-backup.ts'
import { hostname, userInfo } from 'node:os'
import { eq, sql } from 'drizzle-orm'
import { nameIn } from '#shared/core/rules/languages.ts'
import { ACTIVITY_ID } from '#shared/pilgrims/activity-status.ts'
import { type Event, readEvent } from '#shared/pilgrims/event-settings.ts'
import { publishStatus } from '#shared/pilgrims/kv-copies.ts'
import { type Actor, audit } from '#shared/service/security/audit-log.ts'
import { followers, activity, erasures } from '#shared/stores/schema/tables.ts'
import { noteCleared } from './event/set-event.ts'
import { existsSync, readdirSync } from 'node:fs'
import { time } from '#shared/contracts/fields.ts'
import { readSchema } from '#shared/stores/db/migrate.ts'
import { isPicture } from '#shared/stores/objects/pictures.ts'
import { SOS_PRESSES } from '#shared/stores/objects/spool.ts'

function operator(): Actor {
  let name = hostname()
  try {
    name = `${userInfo().username}@${name}`
  } catch {
    // A container's user may have no name.
  }
  return { role: 'owner', name, fingerprint: 'command line', requestId: crypto.randomUUID() }
}

/**
 * Clears a rehearsal. The event is active afterwards, like a new one.
 * @param contents what is stored, for the audit log
 * @throws CommandRefused when the event has begun or a service runs; then nothing is cleared
 */
export async function clearRehearsal(
  installation: Installation,
  contents: Contents,
  actor: Actor = operator(),
): Promise<void> {
  const { db, kv, objects, now } = installation
  await expectRehearsal(installation)
  await audit(db, actor, 'reset', { state: 'begun', contents }, now())
  await deleteKeptPoints(installation)
  await kv.clear()
  for await (const key of objects.list(''))
    if (isPicture(key) || key.startsWith(SOS_PRESSES.prefix)) await objects.delete(key)
  await db.transaction(async (tx) => {
    // Sequences are not restarted, because the bus remembers the numbers of events.
    await tx.orm.execute(sql.raw(`TRUNCATE ${CLEARED.join(', ')}`))
    // The totals that still included erased people are deleted.
    await tx.orm.update(erasures).set({ walked: 0 })
    // Their names were deleted with the pilgrims, and are fetched again.
    await tx.orm.update(followers).set({ profileFetchedAt: null })
    await tx.orm
      .update(activity)
      .set({
        status: 'active',
        version: sql`${activity.version} + 1`,
        message: null,
        messages: null,
        changedAt: new Date(now()),
        changedBy: actor.name,
      })
      .where(eq(activity.id, ACTIVITY_ID))
    await noteCleared(tx, installation, now())
    await audit(tx, actor, 'reset', { state: 'done' }, now())
  })
  await publishStatus(db, kv)
  // A service started meanwhile may have written something.
  await expectStopped(installation)
}

/**
 * Tables that a reset keeps: what operators have set up, what LINE sends only once, and the audit log. A reset clears
 * every other table, including those of later releases.
 */
const UNCLEARED: readonly string[] = [
  'activity',
  'admin_tokens',
  'audit_log',
  'event_settings',
  'role_assignments',
  'notification_plan',
  'erasures',
  'erasing',
  'followers',
  'line_events',
  'rich_menus',
]
export const CLEARED: readonly string[] = TABLES.filter((table) => !UNCLEARED.includes(table))

type Contents = Readonly<Record<string, number>>

/** @throws CommandRefused unless the event has certainly not begun and no service runs */
export async function expectRehearsal(installation: Installation): Promise<void> {
  await expectStores(installation)
  await expectBeforeEvent(installation)
  await expectStopped(installation)
}

/** @throws CommandRefused unless the event has certainly not begun */
export async function expectBeforeEvent({
  config,
  db,
  now,
}: Pick<Installation, 'config' | 'db' | 'now'>): Promise<void> {
  if ((await readSchema(db)).length === 0)
    throw new CommandRefused('The database is empty: there is nothing to clear.')
  const { startsMs } = await readEvent(db, config)
  if (startsMs === null)
    throw new CommandRefused(
      'The event has no beginning, so a rehearsal cannot be distinguished from the event. Set it in the console, in the view Event.',
    )
  const [clock] = await db.sql<{ ms: number }[]>`SELECT epoch_ms(now()) AS ms`
  // The later of the two clocks decides.
  if (Math.max(now(), clock!.ms) >= startsMs)
    throw new CommandRefused(`The event began at ${time(startsMs)}. Its data are not deleted.`)
}

/** Counts the data of a rehearsal: rows by table, pilgrims with pending points, journal files, pictures. */
export async function readContents(installation: Installation): Promise<Contents> {
  const { db, kv, objects } = installation
  const found: Record<string, number> = {}
  for (const table of CLEARED) {
    const [row] = await db.sql.unsafe<[{ n: number }]>(`SELECT count(*)::int AS n FROM ${table}`)
    found[table] = row.n
  }
  const journals = journalsOf(installation)
  found.waiting_pilgrims = await kv.bufferSize()
  found.journals = existsSync(journals) ? readdirSync(journals).length : 0
  found.pictures = (await Array.fromAsync(objects.list(''))).filter(isPicture).length
  return Object.fromEntries(Object.entries(found).filter(([, count]) => count > 0))
}

const USAGE = `Deletes all data of rehearsals: pilgrims, points, totals, surveys, feedback, pictures, messages, and the
points in the buffer and in journals. It does not delete what operators have set up (roles, scheduled notifications,
rich menus), followers, erasures, or the audit log, which records the reset. Afterwards the event is active.

  bun run reset [--yes <name of the event>]

  --yes    the exact name of the event; without it the command asks for the name
  --help   show this text

All services must be stopped, and the event must begin in the future (console, view Event): once it has begun,
nothing is deleted. If a reset is interrupted, run it again.

Exit codes: 0 cleared, 1 refused or failed, 2 wrong command line.`

/** @throws CommandRefused unless the given name is the event's */
async function confirm(
  { ownNames, language }: Event,
  given: string | undefined,
  contents: Contents,
): Promise<void> {
  const name = nameIn(ownNames, language, language)
  const list = Object.entries(contents).map(([what, count]) => `${count} ${what.replaceAll('_', ' ')}`)
  screen.print(`This deletes permanently: ${list.join(', ') || 'nothing, because nothing is stored'}.`)
  const typed = given ?? (process.stdin.isTTY ? await ask(`Type the name of the event (${name}): `) : '')
  if (!Object.values(ownNames).includes(typed.trim()))
    throw new CommandRefused(
      `Nothing is deleted. To confirm, give the event's name: --yes ${JSON.stringify(name)}.`,
    )
}

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return await lines.question(question)
  } finally {
    lines.close()
  }
}

async function reset(installation: Installation, yes: string | undefined): Promise<void> {
  await expectRehearsal(installation)
  const contents = await readContents(installation)
  await confirm(await readEvent(installation.db, installation.config), yes, contents)
  await clearRehearsal(installation, contents)
  screen.print('The rehearsal is cleared. The event is active.')
}

if (import.meta.main) {
  const { yes } = readCommandLine(USAGE, { yes: { type: 'string' } }).values
  await runCommand((config) => withInstallation(config, (installation) => reset(installation, yes)))
}
