/**
 * Takes backups by the clock, keeps the newest ones, and restores the newest one into a scratch database once a day.
 * The commands that an operator types do the work, in processes of their own with a low priority and a limit of time:
 * their memory ends with them. Where there are several schedulers, one of them at a time does it.
 */
import { mkdirSync } from 'node:fs'
import { readdir, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { readEndProgress } from '#shared/pilgrims/activity-status.ts'
import { isRecent, machineNow } from '#shared/runtime/clock.ts'
import { BACKUP_DAYS, type Config, type Environment, environment } from '#shared/runtime/config/config.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { FREE_BYTES } from '#shared/service/alerts/health-checks.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import {
  type BackupSchedule,
  CANNOT_RESTORE,
  forgetSchedule,
  lastBackupMs,
  overdueMs,
  readSchedule,
  recordSchedule,
  resumedSchedule,
} from '#shared/service/last-backup.ts'
import { isStoreUnavailable, repeated } from '#shared/stores/repeated-work.ts'
import { earliestClock } from './maintenance.ts'

const LOOK_EVERY_MS = 60_000
/** A process that starts again and again, or for a test, takes no backup. */
const FIRST_AFTER_MS = 600_000
const CHECK_EVERY_MS = 86_400_000
/** After a failure the work is tried again after this time, or after the interval if that is shorter. */
const RETRY_MS = 3_600_000
/** A command that takes longer is ended. */
const LONGEST_MS = 3_600_000
const LOCK = 'scheduled-backup'
const LOCK_MS = 60_000
/** After so many flushes in a row have ended a backup, it counts as failed. */
const MOST_GIVE_WAYS = 5
/** How often a running command is looked after: whether it has to give way, and the lock is renewed. */
const WATCH_MS = 5_000
const LARGEST_OUTPUT = 2_000

const FAILURES = {
  backup: 'the scheduled backup failed',
  failed: 'a scheduled backup could not be checked',
  'not restorable': 'a scheduled backup cannot be restored',
}

const COMMANDS = join(import.meta.dir, '../admin')

/** The name of the backup of a moment. The ones that operators take have other names, and are never deleted. */
const nameOf = (ms: number): string =>
  `scheduled-${new Date(ms).toISOString().replace('.', '-').replaceAll(':', '-')}.jsonl.zst`

/** The moment of a scheduled backup by its name; null for any other file. */
export function momentOf(name: string): number | null {
  const moment = /^scheduled-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)\.jsonl\.zst$/.exec(name)?.[1]
  return moment === undefined
    ? null
    : Date.parse(moment.replace(/T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z$/, 'T$1:$2:$3.$4Z'))
}

/**
 * Selects the backups to delete: all but the newest `keep`, and those that have been there for as many intervals. The
 * newest one that can be restored stays until `BACKUP_DAYS` are over, and newer ones that cannot push none out. A moment
 * in the future is the mistake of a clock: it counts as the oldest.
 * @param moments of the backups that there are (epoch ms)
 */
export function expiredBackups(
  moments: readonly number[],
  nowMs: number,
  {
    keep,
    everyMs,
    restorableMs,
    checkFailedMs,
  }: Pick<BackupSchedule, 'everyMs' | 'restorableMs' | 'checkFailedMs'> & { readonly keep: number },
): number[] {
  const isPast = (ms: number): boolean => ms <= nowMs
  const newestFirst = moments.toSorted(
    (one, other) => Number(isPast(other)) - Number(isPast(one)) || other - one,
  )
  return newestFirst.filter((ms, place) => {
    const ageMs = nowMs - ms
    if (ms === restorableMs) return ageMs > BACKUP_DAYS * 86_400_000
    return (checkFailedMs === null && place >= keep) || ageMs > keep * everyMs
  })
}

/** What is known, with the interval of now. Times in the future are the mistakes of a clock. */
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

/** One that cannot be restored is soon replaced, once: if the next one cannot be restored either, more would not help. */
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

/** What a check found: of the newest backup, and the newest one that passed, if it is known. */
interface Checked {
  readonly newest: Exclude<Outcome, 'gave way'>
  readonly provenMs: number | null
}

/** A check that could not be done says nothing of the backup. */
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

/** After a check that failed, backups that are newer than the one that passed it are not trusted. */
function restorableOf(
  { checkFailedMs, provenMs }: BackupSchedule,
  newestFirst: readonly number[],
): number | null {
  if (checkFailedMs === null) return newestFirst[0] ?? null
  return provenMs !== null && newestFirst.includes(provenMs) ? provenMs : null
}

type Outcome = 'done' | 'failed' | 'not restorable' | 'gave way'

/** A running command, and how to end it before it is done. */
interface Running {
  readonly isBackup: boolean
  end(outcome: Outcome): void
}

export interface ScheduledBackups {
  /** Looks what is due, and does it. Never rejects. */
  look(): Promise<void>
  start(): void
  stop(): Promise<void>
  /** Ends a backup that holds the only connection of an embedded database. It is taken again later. */
  giveWay(): void
}

/** @param isFlushing whether this process flushes */
export function createScheduledBackups(context: ServiceContext, isFlushing: () => boolean): ScheduledBackups {
  const { config, db, kv, log, metrics, stopwatch } = context
  const { backup } = config
  /** Its one connection keeps a flush waiting while a backup reads it. */
  const isEmbedded = config.databaseUrl === ''
  const sinceStart = stopwatch()
  let running: Running | null = null
  let isStopping = false
  let isResumed = false
  /** Backups in a row that a flush has ended. */
  let givenWay = 0

  const mayRun = async (isBackup: boolean): Promise<boolean> =>
    !isStopping &&
    !(isBackup && isEmbedded && isFlushing()) &&
    (await readEndProgress(db))?.flush !== 'running'

  /** Runs a command of the service to its end, unless it has to give way. */
  const run = async (command: 'backup' | 'restore', path: string): Promise<Outcome> => {
    const isBackup = command === 'backup'
    const args = isBackup ? ['--to', path] : ['--check', '--from', path]
    if (!(await mayRun(isBackup))) return 'gave way'
    const child = Bun.spawn(withLowPriority([join(COMMANDS, `${command}.ts`), ...args]), {
      env: environmentOf(config, environment()),
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let outcome = null as Outcome | null
    running = {
      isBackup,
      end(as) {
        outcome ??= as
        child.kill('SIGKILL')
      },
    }
    const timeout = setTimeout(() => running?.end('failed'), LONGEST_MS)
    const watch = repeated(log, 'a running backup cannot be watched', WATCH_MS, async () => {
      if (!(await mayRun(isBackup))) running?.end('gave way')
    })
    watch.start(false)
    try {
      const said = await new Response(child.stderr).text()
      const code = await child.exited
      outcome ??= code === 0 ? 'done' : code === CANNOT_RESTORE ? 'not restorable' : 'failed'
      if (outcome !== 'done') await removeRemains(dirname(path), basename(path))
      if (isBackup) {
        givenWay = outcome === 'gave way' && !isStopping ? givenWay + 1 : 0
        if (givenWay === MOST_GIVE_WAYS) {
          givenWay = 0
          log.error('the scheduled backup failed: it takes longer than flushes leave it', {})
          return 'failed'
        }
      }
      if (outcome === 'failed' || outcome === 'not restorable')
        log.error(FAILURES[isBackup ? 'backup' : outcome], {
          code: child.signalCode ?? code,
          said: said.slice(-LARGEST_OUTPUT),
        })
      return outcome
    } finally {
      clearTimeout(timeout)
      running = null
      await watch.stop()
    }
  }

  const takeBackup = async (dir: string, ms: number): Promise<Outcome> => {
    const { bavail, bsize } = await statfs(dir)
    const sizes = await Promise.all(
      (await momentsIn(dir)).map(async (one) => (await stat(join(dir, nameOf(one)))).size),
    )
    // The journals may be on the same disk, and check-ins need room there.
    if (bavail * bsize < FREE_BYTES + 2 * Math.max(0, ...sizes)) {
      log.error('the scheduled backup failed: the disk of the backups is almost full', {
        free: bavail * bsize,
      })
      return 'failed'
    }
    return run('backup', join(dir, nameOf(ms)))
  }

  /** Restores backups into a scratch database, the newest one first, up to the first one that can be restored. */
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

  /** @returns what is known after all that was due */
  const doWhatIsDue = async (
    { dir, keep }: NonNullable<Config['backup']>,
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
    for (const ms of expiredBackups(await momentsIn(dir), nowMs, { ...known, keep }))
      await rm(join(dir, nameOf(ms)), { force: true })
    await removeRemains(dir)
    return known
  }

  /** While no backups are scheduled, those of before are still deleted in time. */
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
  const read = async (
    of: (schedule: BackupSchedule, lastMs: number | null) => number | null,
  ): Promise<number> => {
    const [known, lastMs] = await Promise.all([readSchedule(kv), lastBackupMs(kv)])
    return ((known && of(known, lastMs)) ?? Number.NaN) / 1_000
  }
  metrics.gauge('event_backup_restorable_timestamp_seconds', () => read(({ restorableMs }) => restorableMs))
  metrics.gauge('event_backup_due_timestamp_seconds', () => read(overdueMs))
  return {
    look: looking.run,
    start: () => looking.start(),
    async stop() {
      isStopping = true
      running?.end('gave way')
      await looking.stop()
    },
    giveWay: () => void (running?.isBackup && isEmbedded && running.end('gave way')),
  }
}

/** A command of ours, with a low priority: a shell finds the program that sets it, and becomes the command. */
const withLowPriority = (command: readonly string[]): string[] => [
  '/bin/sh',
  '-c',
  'exec nice -n 5 "$0" "$@"',
  process.execPath,
  '--no-env-file',
  ...command,
]

/** Variables besides the settings that connections follow: certificates, TLS of Postgres, proxies. */
const OF_CONNECTIONS = /^(NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|PG[A-Z]+|((HTTPS?|ALL|NO)_PROXY))$/i

/** The settings that the commands need, and no secret besides. */
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

const momentsIn = async (dir: string): Promise<number[]> =>
  (await readdir(dir)).map(momentOf).filter((ms) => ms !== null)

const pastOf = (moments: readonly number[], nowMs: number): number[] =>
  moments.filter((ms) => ms <= nowMs).toSorted((one, other) => other - one)

/**
 * Deletes what a command has left that was ended: part of a backup, a scratch database. Both hold personal data.
 * @param of name of the backup whose command has just ended; without it, whatever is older than any command
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
