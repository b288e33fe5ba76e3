/**
 * Takes scheduled backups, keeps the newest ones, and restores the newest one into a scratch database once a
 * day. The operators' commands do the work, in low-priority child processes with a time limit, so that their
 * memory is freed. With several schedulers, only one of them does it at a time.
 */
import { mkdirSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { readEndProgress } from '#shared/pilgrims/activity-status.ts'
import { isRecent, machineNow } from '#shared/runtime/clock.ts'
import { BACKUP_DAYS, type Config, type Environment, environment } from '#shared/runtime/config/config.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { archiveDueMs, readArchive } from '#shared/service/continuous-archive.ts'
import { FREE_BYTES, freeBytesOf } from '#shared/service/alerts/health-checks.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import {
  type BackupSchedule,
  CANNOT_RESTORE,
  forgetSchedule,
  lastBackupMs,
  laterMs,
  overdueMs,
  readSchedule,
  recordSchedule,
  resumedSchedule,
} from '#shared/service/last-backup.ts'
import { isStoreUnavailable, repeated } from '#shared/stores/repeated-work.ts'
import { earliestClock } from './maintenance.ts'

const LOOK_EVERY_MS = 60_000
/** Delay after the start, so that a process in a restart loop, or one started for a test, takes no backup. */
const FIRST_AFTER_MS = 600_000
const CHECK_EVERY_MS = 86_400_000
/** After a failure the work is retried after this time, or after the interval if that is shorter. */
const RETRY_MS = 3_600_000
/** Time limit of a command. */
const LONGEST_MS = 3_600_000
const LOCK = 'scheduled-backup'
const LOCK_MS = 60_000
/** Interval at which a running command is checked. Within it, a backup can write less than `FREE_BYTES`. */
const WATCH_MS = 1_000
const LARGEST_OUTPUT = 2_000

const FAILURES = {
  backup: 'the scheduled backup failed',
  failed: 'a scheduled backup could not be checked',
  'not restorable': 'a scheduled backup cannot be restored',
}

const ALMOST_FULL = 'the disk of the backups is almost full'

const COMMANDS = join(import.meta.dir, '../admin')

/** File name of a scheduled backup. Backups taken by operators have other names, and are never deleted. */
const nameOf = (ms: number): string =>
  `scheduled-${new Date(ms).toISOString().replace('.', '-').replaceAll(':', '-')}.jsonl.zst`

/** The time in a scheduled backup's name; null for any other file. */
export function momentOf(name: string): number | null {
  const moment = /^scheduled-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)\.jsonl\.zst$/.exec(name)?.[1]
  return moment === undefined
    ? null
    : Date.parse(moment.replace(/T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z$/, 'T$1:$2:$3.$4Z'))
}

/**
 * Selects the backups to delete: all but the newest `keep`, those older than `keep` intervals, and the oldest while all
 * together exceed `maxBytes`. The newest restorable one stays for `BACKUP_DAYS`, and newer ones that cannot be restored
 * displace none. A time in the future was set by a wrong clock and counts as the oldest.
 * @param sizes bytes of the existing backups by their times (epoch ms)
 */
export function expiredBackups(
  sizes: ReadonlyMap<number, number>,
  nowMs: number,
  {
    keep,
    maxBytes,
    everyMs,
    restorableMs,
    checkFailedMs,
  }: Pick<BackupSchedule, 'everyMs' | 'restorableMs' | 'checkFailedMs'> & {
    readonly keep: number
    readonly maxBytes: number
  },
): number[] {
  const isPast = (ms: number): boolean => ms <= nowMs
  const newestFirst = [...sizes.keys()].sort(
    (one, other) => Number(isPast(other)) - Number(isPast(one)) || other - one,
  )
  let bytes = restorableMs === null ? 0 : (sizes.get(restorableMs) ?? 0)
  return newestFirst.filter((ms, place) => {
    const ageMs = nowMs - ms
    if (ms === restorableMs) return ageMs > BACKUP_DAYS * 86_400_000
    bytes += sizes.get(ms)!
    return (
      (checkFailedMs === null && place >= keep) || ageMs > keep * everyMs || (place > 0 && bytes > maxBytes)
    )
  })
}

/**
 * The known schedule with the current interval. Times in the future were set by a wrong clock and are
 * dropped.
 */
function scheduleAt(known: BackupSchedule | null, nowMs: number, everyMs: number): BackupSchedule {
  const past = (ms: number | null | undefined): number | null =>
    ms === undefined || ms === null || ms > nowMs ? null : ms
  return {
    everyMs,
    sinceMs: past(known?.sinceMs) ?? nowMs,
    restorableMs: past(known?.restorableMs),
    provenMs: past(known?.provenMs),
    checkedMs: past(known?.checkedMs),
    checkTriedMs: past(known?.checkTriedMs),
    backupFailedMs: past(known?.backupFailedMs),
    checkFailedMs: past(known?.checkFailedMs),
    lookedMs: nowMs,
    resumedMs: past(known?.resumedMs),
    ownMs: known?.ownMs ?? null,
  }
}

/**
 * A backup that cannot be restored is replaced early, but only once: if the next one cannot be restored
 * either, more would not help.
 */
export function isBackupDue(
  { everyMs, backupFailedMs, checkFailedMs }: BackupSchedule,
  moments: readonly number[],
  nowMs: number,
): boolean {
  const retryMs = Math.min(everyMs, RETRY_MS)
  if (backupFailedMs !== null) return !isRecent(backupFailedMs, nowMs, retryMs)
  const [newestMs] = pastOf(moments, nowMs)
  if (newestMs === undefined) return true
  const isReplaced = checkFailedMs === null || newestMs > checkFailedMs
  return !isRecent(newestMs, nowMs, isReplaced ? everyMs : retryMs)
}

export function isCheckDue(
  { everyMs, checkedMs, checkTriedMs, checkFailedMs }: BackupSchedule,
  moments: readonly number[],
  nowMs: number,
): boolean {
  const [newestMs] = pastOf(moments, nowMs)
  if (newestMs === undefined) return false
  if (checkTriedMs === null || checkedMs === null)
    return checkTriedMs === null || !isRecent(checkTriedMs, nowMs, Math.min(everyMs, RETRY_MS))
  const isKnown = checkedMs >= checkTriedMs && (checkFailedMs === null || newestMs <= checkedMs)
  return !isRecent(checkTriedMs, nowMs, isKnown ? CHECK_EVERY_MS : Math.min(everyMs, RETRY_MS))
}

/** Result of a check: the newest backup's, and the newest backup that passed, if known. */
interface Checked {
  readonly newest: Exclude<Outcome, 'gave way'>
  readonly provenMs: number | null
}

/** A check that could not run says nothing about the backup. */
export function afterCheck(
  known: BackupSchedule,
  { newest, provenMs }: Checked,
  nowMs: number,
): BackupSchedule {
  const tried = { ...known, checkTriedMs: nowMs }
  if (newest === 'failed') return tried
  const checkFailedMs = newest === 'done' ? null : (known.checkFailedMs ?? nowMs)
  return { ...tried, provenMs, checkedMs: nowMs, checkFailedMs }
}

/** After a failed check, backups newer than the one that passed it are not trusted. */
function restorableOf(
  { checkFailedMs, provenMs }: BackupSchedule,
  newestFirst: readonly number[],
): number | null {
  if (checkFailedMs === null) return newestFirst[0] ?? null
  return provenMs !== null && newestFirst.includes(provenMs) ? provenMs : null
}

type Outcome = 'done' | 'failed' | 'not restorable' | 'gave way'

export interface ScheduledBackups {
  /** Does what is due. Never rejects. */
  look(): Promise<void>
  start(): void
  stop(): Promise<void>
}

export function createScheduledBackups(context: ServiceContext): ScheduledBackups {
  const { config, db, kv, log, metrics, stopwatch } = context
  const { backup } = config
  const sinceStart = stopwatch()
  /** Interrupts the running command. */
  let interrupt: ((outcome: Outcome, why?: string) => void) | null = null
  let isStopping = false
  let isResumed = false

  const mayRun = async (): Promise<boolean> => (await readEndProgress(db))?.flush !== 'running' && !isStopping

  /** Runs a command to its end, unless it is interrupted. */
  const run = async (command: 'backup' | 'restore', path: string): Promise<Outcome> => {
    const isBackup = command === 'backup'
    const args = isBackup ? ['--to', path] : ['--check', '--from', path]
    if (!(await mayRun())) return 'gave way'
    const child = Bun.spawn(withLowPriority([join(COMMANDS, `${command}.ts`), ...args]), {
      env: environmentOf(config, environment()),
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let outcome = null as Outcome | null
    let reason = ''
    interrupt = (as, why = '') => {
      if (outcome !== null) return
      outcome = as
      reason = why
      child.kill('SIGKILL')
    }
    const timeout = setTimeout(() => interrupt?.('failed'), LONGEST_MS)
    const watch = repeated(log, 'a running backup cannot be watched', WATCH_MS, async () => {
      if ((await freeBytesOf(dirname(path))) < FREE_BYTES) interrupt?.('failed', ALMOST_FULL)
      if (!(await mayRun())) interrupt?.('gave way')
    })
    watch.start(false)
    try {
      const said = await new Response(child.stderr).text()
      const code = await child.exited
      outcome ??= code === 0 ? 'done' : code === CANNOT_RESTORE ? 'not restorable' : 'failed'
      if (outcome !== 'done') await removeRemains(dirname(path), basename(path))
      if (outcome === 'failed' || outcome === 'not restorable')
        log.error(FAILURES[isBackup ? 'backup' : outcome], {
          code: child.signalCode ?? code,
          said: reason || said.slice(-LARGEST_OUTPUT),
        })
      return outcome
    } finally {
      clearTimeout(timeout)
      interrupt = null
      await watch.stop()
    }
  }

  const takeBackup = async (dir: string, ms: number): Promise<Outcome> => {
    const [free, sizes, database] = await Promise.all([freeBytesOf(dir), sizesIn(dir), databaseBytes(db)])
    const expected = sizes.size > 0 ? 2 * Math.max(...sizes.values()) : database
    // The journals may be on the same disk, and check-ins need room there.
    const needed = FREE_BYTES + expected + (config.databaseUrl === '' ? database : 0)
    if (free < needed) {
      log.error(`${FAILURES.backup}: ${ALMOST_FULL}`, { free, needed })
      return 'failed'
    }
    return run('backup', join(dir, nameOf(ms)))
  }

  /** Restores backups into a scratch database, newest first, until one can be restored. */
  const findRestorable = async (
    dir: string,
    newestFirst: readonly number[],
    knownMs: number | null,
  ): Promise<Checked | 'gave way'> => {
    const startedMs = performance.now()
    let newest: Checked['newest'] | null = null
    for (const ms of newestFirst) {
      const outcome = await run('restore', join(dir, nameOf(ms)))
      if (outcome === 'gave way') return outcome
      newest ??= outcome
      if (outcome === 'done') return { newest, provenMs: ms }
      if (outcome === 'failed' || performance.now() - startedMs > LONGEST_MS)
        return { newest, provenMs: knownMs !== null && knownMs <= ms ? knownMs : null }
    }
    return { newest: newest ?? 'failed', provenMs: null }
  }

  const doWhatIsDue = async (
    { dir, keep, maxBytes }: NonNullable<Config['backup']>,
    before: BackupSchedule,
    nowMs: number,
  ): Promise<BackupSchedule> => {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    let known = before
    if (isBackupDue(known, await momentsIn(dir), nowMs)) {
      const lastMs = await lastBackupMs(kv)
      const outcome = await takeBackup(dir, nowMs)
      const nextMs = await lastBackupMs(kv)
      if (nextMs !== lastMs) known = { ...known, ownMs: nextMs }
      if (outcome !== 'gave way') known = { ...known, backupFailedMs: outcome === 'failed' ? nowMs : null }
    }
    const newestFirst = pastOf(await momentsIn(dir), nowMs)
    if (isCheckDue(known, newestFirst, nowMs)) {
      const checked = await findRestorable(dir, newestFirst, known.provenMs)
      if (checked !== 'gave way') known = afterCheck(known, checked, nowMs)
    }
    known = { ...known, restorableMs: restorableOf(known, newestFirst) }
    for (const ms of expiredBackups(await sizesIn(dir), nowMs, { ...known, keep, maxBytes }))
      await rm(join(dir, nameOf(ms)), { force: true })
    await removeRemains(dir)
    return known
  }

  /** Without a schedule, earlier scheduled backups are still deleted in time. */
  const removeOld = async (dir: string): Promise<void> => {
    await forgetSchedule(kv)
    const nowMs = await earliestClock(context)
    const moments = await momentsIn(dir).catch(() => [])
    if (moments.length === 0) return
    for (const ms of moments)
      if (Math.abs(nowMs - ms) > BACKUP_DAYS * 86_400_000) await rm(join(dir, nameOf(ms)), { force: true })
    await removeRemains(dir)
  }

  const lookInto = async (schedule: NonNullable<Config['backup']>): Promise<void> => {
    const nowMs = await earliestClock(context)
    const before = scheduleAt(await readSchedule(kv), nowMs, schedule.everyMs)
    const known = await doWhatIsDue(schedule, before, nowMs).catch((error: unknown) => {
      if (isStoreUnavailable(error)) throw error
      // The folder cannot be used.
      if (before.backupFailedMs === null) log.error('the scheduled backup failed', errorFields(error))
      return { ...before, backupFailedMs: nowMs }
    })
    await recordSchedule(kv, known)
  }

  const noteResumed = async (): Promise<void> => {
    const known = await readSchedule(kv)
    const resumed = known && resumedSchedule(known, await earliestClock(context))
    if (resumed !== null) await recordSchedule(kv, resumed)
    isResumed = true
  }

  const looking = repeated(log, 'the scheduled backup failed', LOOK_EVERY_MS, async () => {
    if (backup === null) return forgetSchedule(kv)
    if (!isResumed) await noteResumed()
    if (sinceStart() < FIRST_AFTER_MS) return
    const token = await kv.lock(LOCK, LOCK_MS)
    if (token === null) return
    const renewal = setInterval(
      () => void kv.renewLock(LOCK, token, LOCK_MS).catch(() => undefined),
      LOCK_MS / 4,
    )
    try {
      await (backup.everyMs === 0 ? removeOld(backup.dir) : lookInto(backup))
    } finally {
      clearInterval(renewal)
      await kv.unlock(LOCK, token).catch(() => undefined)
    }
  })
  metrics.gauge('event_backup_restorable_timestamp_seconds', async () => {
    const [schedule, archive] = await Promise.all([readSchedule(kv), readArchive(kv)])
    return (laterMs(schedule?.restorableMs ?? null, archive?.restorableMs ?? null) ?? Number.NaN) / 1_000
  })
  metrics.gauge('event_backup_due_timestamp_seconds', async () => {
    const [schedule, lastMs, archive] = await Promise.all([
      readSchedule(kv),
      lastBackupMs(kv),
      readArchive(kv),
    ])
    const due = [schedule && overdueMs(schedule, lastMs), archive && archiveDueMs(archive)]
    const known = due.filter((ms) => ms !== null)
    return known.length === 0 ? Number.NaN : Math.min(...known) / 1_000
  })
  return {
    look: looking.run,
    start: () => looking.start(),
    async stop() {
      isStopping = true
      interrupt?.('gave way')
      await looking.stop()
    },
  }
}

/**
 * The command with low priority: a shell finds `nice` in the path and is replaced by it. If the memory runs out, Linux
 * ends it before any service, because a trial restore opens a database of its own.
 */
const withLowPriority = (command: readonly string[]): string[] => [
  '/bin/sh',
  '-c',
  '{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null; exec nice -n 5 "$0" "$@"',
  process.execPath,
  '--no-env-file',
  ...command,
]

/** Variables besides the settings that affect connections: certificates, TLS of Postgres, proxies. */
const OF_CONNECTIONS = /^(NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|PG[A-Z]+|((HTTPS?|ALL|NO)_PROXY))$/i

/** The settings that the commands need, without other secrets. */
export const environmentOf = (config: Config, outer: Environment): Record<string, string> => {
  const connections = Object.entries(outer).filter(
    (entry): entry is [string, string] => OF_CONNECTIONS.test(entry[0]) && entry[1] !== undefined,
  )
  return { ...Object.fromEntries(connections), ...settingsOf(config) }
}

const settingsOf = ({
  dataDir,
  databaseUrl,
  redisUrl,
  objectsUrl,
  s3,
  buffer,
  timeZone,
}: Config): Record<string, string> => ({
  TMPDIR: tmpdir(),
  EVENT_DATA_DIR: dataDir,
  EVENT_PARTITIONS: String(buffer.partitions),
  EVENT_TIMEZONE: timeZone,
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl,
  OBJECTS_URL: objectsUrl,
  S3_ENDPOINT: s3.endpoint,
  S3_REGION: s3.region,
  S3_ACCESS_KEY_ID: s3.accessKeyId,
  S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
})

/** Size of the database. Its first backup, which is compressed, is smaller; an embedded one is copied besides. */
async function databaseBytes({ sql }: Pick<ServiceContext['db'], 'sql'>): Promise<number> {
  const [row] = await sql<[{ bytes: number }]>`SELECT pg_database_size(current_database())::float8 AS bytes`
  return row.bytes
}

const momentsIn = async (dir: string): Promise<number[]> =>
  (await readdir(dir)).map(momentOf).filter((ms) => ms !== null)

const sizesIn = async (dir: string): Promise<Map<number, number>> =>
  new Map(
    await Promise.all(
      (await momentsIn(dir)).map(async (ms) => [ms, (await stat(join(dir, nameOf(ms)))).size] as const),
    ),
  )

const pastOf = (moments: readonly number[], nowMs: number): number[] =>
  moments.filter((ms) => ms <= nowMs).toSorted((one, other) => other - one)

/**
 * Deletes the remains of an interrupted command: a partial backup, a scratch database. Both contain personal
 * data.
 * @param of name of the backup whose command has just ended; absent: everything older than any running
 *   command
 */
async function removeRemains(dir: string, of?: string): Promise<void> {
  for (const name of await readdir(dir)) {
    const backup = /^(scheduled-.*)\.(partial|scratch)-\w+$/.exec(name)?.[1]
    if (backup === undefined) continue
    const path = join(dir, name)
    const found = backup === of ? null : await stat(path).catch(() => null)
    if (backup === of || (found !== null && machineNow() - found.mtimeMs > LONGEST_MS))
      await rm(path, { recursive: true, force: true })
  }
}
