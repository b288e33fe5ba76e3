/**
 * Restores a backup into an empty installation whose services are stopped: pictures, then pending points, then the
 * database in one transaction. So an installation that has rows is completely restored.
 */
import { z } from 'zod'
import { publishStatus } from '#shared/lifecycle/activity-status.ts'
import { readStamp } from '#shared/buffer/point.ts'
import { admissionRules } from '#shared/buffer/validate/admission-rules.ts'
import { collectJournals, deleteJournals } from '#shared/buffer/journal/journal-export.ts'
import type { ActivityStatus } from '#shared/contracts/fields.ts'
import {
  type Entry,
  type Erased,
  partitionOf,
  type Position,
  type Submission,
  userHash,
} from '#shared/kv/kv.ts'
import type { Migration } from '#shared/db/migrate.ts'
import { kindOf, readArchive } from './archive.ts'
import { createLog } from '#shared/runtime/log.ts'
import { createCalendar } from '#shared/rules/calendar.ts'
import { finishErasures } from '../erasure/retry-erasures.ts'
import { readErasures, mergeLaterErasures, type ChangedTag, restoreDatabase } from './restore-database.ts'
import { CommandRefused } from './command-refused.ts'
import { LiveLine, type Verified, WaitingLine } from './verify-backup.ts'
import { expectStopped, expectStores, type Installation, journalsOf, TABLES } from './take-backup.ts'

/** Tables that have rows in a new installation, or soon after its start. */
const FILLED_AT_START = [
  'activity',
  'flushes',
  'ledger_counters',
  'ledger_callers',
  'ledger_counts',
  'ledger_losses',
]

const StoredLine = z.object({ object: z.string(), type: z.string(), etag: z.string(), base64: z.string() })

/** Lists in words what an installation stores. A backup may be restored when the list is empty. */
async function contentsOf(installation: Installation): Promise<string[]> {
  const { db, kv, objects } = installation
  const found: string[] = []
  for (const table of TABLES.filter((name) => !FILLED_AT_START.includes(name))) {
    const [there] = await db.sql`SELECT to_regclass(${table}) IS NOT NULL AS known`
    if (!there?.known) continue
    const [row] = await db.sql.unsafe<{ some: boolean }[]>(`SELECT EXISTS (SELECT FROM ${table}) AS some`)
    if (row!.some) found.push(`rows in ${table}`)
  }
  const pending = await kv.bufferSize()
  if (pending > 0) found.push(`pending points of ${pending} pilgrims`)
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
 * @param options.replace first delete what the installation stores
 * @param options.paused an active event is restored as paused
 * @returns the activity's status
 * @throws CommandRefused when the installation is not empty or its services run; then nothing is changed
 */
export async function restoreBackup(
  installation: Installation,
  backup: Verified,
  options: {
    readonly replace: boolean
    readonly paused: boolean
    /** The migrations of this release. */
    readonly migrations?: readonly Migration[]
  },
): Promise<ActivityStatus> {
  const { db, kv } = installation
  await expectStores(installation)
  await expectStopped(installation)
  const contents = await contentsOf(installation)
  if (contents.length > 0 && !options.replace)
    throw new CommandRefused(
      `The installation is not empty: it has ${contents.join(', ')}. Restore into an empty one, ` +
        'or use --replace to delete everything in this one first.',
    )
  if (options.replace) await empty(installation)
  const erased = mergeLaterErasures(
    backup.erased,
    await readErasures(db.sql),
    Date.parse(backup.header.made_at),
  )
  // An empty kv may still have keys of the former event: its status, rate-limit windows, markers.
  await kv.clear()
  const etags = await restoreObjects(installation, backup)
  await restoreWaiting(installation, backup, erased.all)
  const { later } = erased
  await restoreDatabase(db.sql, backup, { ...options, etags, later, nowMs: installation.now() })
  await eraseAgain(installation)
  return (await publishStatus(db, kv)).status
}

/** Erases people whose erasure is later than the backup. The services repeat what fails here when they start. */
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

/** @returns cards whose ETag differs in this object store */
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

/**
 * Writes pending points to the buffer, as journal recovery does, and positions to the live map.
 * @throws KvUnavailable
 */
export async function restoreWaiting(
  { kv, config }: Pick<Installation, 'kv' | 'config'>,
  { path }: Pick<Verified, 'path'>,
  erased: readonly Erased[],
): Promise<void> {
  await kv.storeErasures(erased)
  const rules = admissionRules(config)
  const erasedMs = new Map(erased.map((one) => [one.userHash, one.erasedMs]))
  for await (const line of readArchive(path)) {
    const waiting = kindOf(line) === 'waiting' ? WaitingLine.parse(JSON.parse(line)).waiting : []
    const live = kindOf(line) === 'live' ? LiveLine.parse(JSON.parse(line)).live : []
    const submissions = [
      ...waiting.map(({ userId, entries, position }) => submissionOf(userId, entries, position)),
      ...live
        // The backup may have read a position just before it read that person's erasure.
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
  // The kv drops what was received before an erasure, and adds new stamps to the rest.
  entries: entries.map(({ field, value }) => ({ field, value: readStamp(value).value })),
  duplicateKey: '',
  recordedMs: 0,
  position,
})
