/**
 * Restoring a backup into an empty installation whose services are stopped: pictures, then what waits for the
 * database, then the database in one transaction; so an installation with rows in it is a restored one.
 */
import { z } from 'zod'
import { publishStatus } from '#shared/lifecycle/activity-status.ts'
import { readStamp } from '#shared/buffer/point.ts'
import { admissionRules } from '#shared/buffer/validate/admission-rules.ts'
import { collectJournals, deleteJournals } from '#shared/buffer/journal/journal-export.ts'
import { type ActivityStatus, UserId } from '#shared/contracts/fields.ts'
import { MIGRATIONS } from '#shared/db/migrate.ts'
import {
  type Entry,
  type Erased,
  type PartitionCounters,
  partitionOf,
  type Position,
  type Submission,
  userHash,
} from '#shared/kv/kv.ts'
import { type Counts, End, FORMAT, Header, kindOf, readArchive, rowsOf } from './archive.ts'
import { createLog } from '#shared/runtime/log.ts'
import { createCalendar } from '#shared/rules/calendar.ts'
import { finishErasures } from '../erasure/sweep-erasures.ts'
import { readErased, withLater } from './keep-erased.ts'
import { CommandRefused } from './command-refused.ts'
import { type ChangedTag, restoreDatabase } from './restore-database.ts'
import { expectStopped, expectStores, type Installation, journalsOf, TABLES } from './take-backup.ts'

/** What a new installation has by itself, or soon after its start. */
const OF_ITSELF = ['activity', 'flushes', 'ledger_books', 'ledger_callers', 'ledger_counts', 'ledger_losses']

/** An archive that has been read to its end, and is for this release. */
export interface Verified {
  readonly path: string
  readonly header: Header
  readonly counts: Counts
  /** What the kv had counted. */
  readonly lives: readonly PartitionCounters[]
  /** Generations of erased people, by hash. */
  readonly erased: readonly Erased[]
}

const ErasureRow = z.object({ user_hash: z.string(), generation: z.number(), erased_at: z.string() })

/** Lines that tell what an archive is. */
const TOLD = new Set(['backup', 'lives', 'end'])

/**
 * Reads an archive through, and takes nothing from it.
 * @throws CommandRefused when it is damaged, no backup, or of a newer release
 */
export async function verifyBackup(path: string): Promise<Verified> {
  let header: Header | null = null
  let counts: Counts | null = null
  let lives: PartitionCounters[] = []
  const erased: Erased[] = []
  // What a line says is looked at only once all of them are known to be as they were written.
  const lines: string[] = []
  for await (const line of readArchive(path))
    if (TOLD.has(kindOf(line)) || line.startsWith('{"rows":"erasures"')) lines.push(line)
  for (const line of lines) {
    if (kindOf(line) === 'backup') header = Header.parse(JSON.parse(line))
    if (kindOf(line) === 'lives') lives = (JSON.parse(line) as { lives: PartitionCounters[] }).lives
    if (kindOf(line) === 'end') counts = End.parse(JSON.parse(line)).end
    if (kindOf(line) !== 'rows') continue
    for (const row of z.array(ErasureRow).parse(JSON.parse(rowsOf(line).json)))
      erased.push({
        userHash: row.user_hash,
        generation: row.generation,
        erasedMs: Date.parse(row.erased_at),
      })
  }
  if (header === null || counts === null) throw new CommandRefused(`${path} is no backup of this service.`)
  const known = MIGRATIONS.map(({ name }) => name)
  const unknown = header.schema.filter((name) => !known.includes(name))
  if (header.backup > FORMAT || unknown.length > 0)
    throw new CommandRefused(
      `${path} was made by a newer release (${unknown.join(', ') || `format ${header.backup}`}): restore it with that release.`,
    )
  await checkPoints(path)
  return { path, header, counts, lives, erased }
}

const Place = z.object({ t: z.number(), lat: z.number(), lng: z.number() })
/** The kv is told of points in lines; each of these stays within one. */
const SingleLine = z.string().regex(/^[^\r\n]+$/)
const WaitingLine = z.object({
  waiting: z.array(
    z.object({
      userId: UserId,
      entries: z.array(z.object({ field: SingleLine, value: SingleLine })),
      position: Place.nullable(),
    }),
  ),
})
const LiveLine = z.object({ live: z.array(Place.extend({ userId: UserId })) })
const StoredLine = z.object({ object: z.string(), type: z.string(), etag: z.string(), base64: z.string() })

/** @throws CommandRefused for points that no service of ours has written: somebody has altered the backup */
async function checkPoints(path: string): Promise<void> {
  const contracts: Readonly<Record<string, z.ZodType>> = { waiting: WaitingLine, live: LiveLine }
  for await (const line of readArchive(path)) {
    const checked = contracts[kindOf(line)]?.safeParse(JSON.parse(line))
    if (checked?.success === false)
      throw new CommandRefused(
        `${path} holds points as no service of ours writes them, so it has been altered. Nothing is taken from it.`,
      )
  }
}

/** What of an installation is not empty, in words; none: it may take a backup. */
async function contentsOf(installation: Installation): Promise<string[]> {
  const { db, kv, objects } = installation
  const found: string[] = []
  for (const table of TABLES.filter((name) => !OF_ITSELF.includes(name))) {
    const [there] = await db.sql`SELECT to_regclass(${table}) IS NOT NULL AS known`
    if (!there?.known) continue
    const [row] = await db.sql.unsafe<{ some: boolean }[]>(`SELECT EXISTS (SELECT FROM ${table}) AS some`)
    if (row!.some) found.push(`rows in ${table}`)
  }
  const pending = await kv.bufferSize()
  if (pending > 0) found.push(`points of ${pending} pilgrims that wait`)
  let journaled = 0
  for await (const entries of collectJournals(journalsOf(installation), 0)) journaled += entries.length
  if (journaled > 0) found.push(`${journaled} journaled check-ins`)
  for await (const key of objects.list('')) {
    found.push(`objects such as ${key}`)
    break
  }
  return found
}

/**
 * Restores a verified backup.
 * @param options.replace what the installation holds is deleted first
 * @param options.paused an active event comes back paused
 * @returns the activity's status
 * @throws CommandRefused when the installation is not empty or its services run; nothing is changed then
 */
export async function restoreBackup(
  installation: Installation,
  backup: Verified,
  options: { readonly replace: boolean; readonly paused: boolean },
): Promise<ActivityStatus> {
  const { db, kv } = installation
  await expectStores(installation)
  await expectStopped(installation)
  const contents = await contentsOf(installation)
  if (contents.length > 0 && !options.replace)
    throw new CommandRefused(
      `The installation is not empty: it has ${contents.join(', ')}. Restore into an empty one; ` +
        'with --replace everything in this one is deleted first.',
    )
  if (options.replace) await empty(installation)
  const erased = withLater(backup.erased, await readErased(db.sql), Date.parse(backup.header.made_at))
  // What an empty kv still has (a status, windows, markers) is of another life of the event.
  await kv.clear()
  const etags = await restoreObjects(installation, backup)
  await restoreWaiting(installation, backup, erased.all)
  const { later } = erased
  await restoreDatabase(db.sql, backup, { ...options, etags, later, nowMs: installation.now() })
  await eraseAgain(installation)
  return (await publishStatus(db, kv)).status
}

/** Erases those who have been erased since the backup was made; what fails here the services do when they start. */
async function eraseAgain(installation: Installation): Promise<void> {
  const log = createLog({}, (line) => void process.stderr.write(`${line}\n`))
  await finishErasures({ ...installation, calendar: createCalendar(installation.config.timeZone), log })
}

/** Deletes what `restoreDatabase` does not replace. */
async function empty(installation: Installation): Promise<void> {
  const { objects } = installation
  await deleteJournals(journalsOf(installation))
  const keys = await Array.fromAsync(objects.list(''))
  for (const key of keys) await objects.delete(key)
}

/** @returns tags of cards that are other ones in this store, by user id and the tag of before */
async function restoreObjects({ objects }: Installation, { path }: Verified): Promise<ChangedTag[]> {
  const changed: ChangedTag[] = []
  for await (const line of readArchive(path)) {
    if (kindOf(line) !== 'object') continue
    const { object: key, type, etag: before, base64 } = StoredLine.parse(JSON.parse(line))
    const { etag: after } = await objects.put(key, new Uint8Array(Buffer.from(base64, 'base64')), {
      contentType: type,
    })
    const userId = /^cards\/(.*)\.png$/.exec(key)?.[1]
    if (userId !== undefined && before !== after) changed.push({ userId, before, after })
  }
  return changed
}

/** Brings points that wait back into the buffer, as a journal's replay does, and the live map. */
async function restoreWaiting(
  { kv, config }: Installation,
  { path }: Verified,
  erased: readonly Erased[],
): Promise<void> {
  await kv.rememberErased(erased)
  const rules = admissionRules(config)
  const erasedMs = new Map(erased.map((one) => [one.userHash, one.erasedMs]))
  for await (const line of readArchive(path)) {
    const waiting = kindOf(line) === 'waiting' ? WaitingLine.parse(JSON.parse(line)).waiting : []
    const live = kindOf(line) === 'live' ? LiveLine.parse(JSON.parse(line)).live : []
    const submissions = [
      ...waiting.map(({ userId, entries, position }) => submissionOf(userId, entries, position)),
      ...live
        // Seen by the backup just before an erasure that it saw, too.
        .filter(({ userId, t }) => t > (erasedMs.get(userHash(userId)) ?? -Infinity))
        .map(({ userId, ...position }) => submissionOf(userId, [], position)),
    ]
    for (const [partition, own] of Map.groupBy(submissions, ({ userId }) =>
      partitionOf(userId, kv.partitions),
    ))
      await kv.restore(partition, own, rules)
  }
}

const submissionOf = (userId: string, entries: readonly Entry[], position: Position | null): Submission => ({
  id: crypto.randomUUID(),
  userId,
  kind: 'sync',
  // The kv drops what was received before an erasure, and stamps the rest anew.
  entries: entries.map(({ field, value }) => ({ field, value: readStamp(value).value })),
  duplicateKey: '',
  recordedMs: 0,
  position,
})
