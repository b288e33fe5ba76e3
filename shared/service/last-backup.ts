/**
 * State of the backups. It is in the kv, where every service reads it. If the kv loses it, the scheduler
 * finds the scheduled backups again in their folder.
 */
import { readArchive } from '#shared/service/continuous-archive.ts'
import type { KvKeys } from '#shared/stores/kv/kv.ts'

const KEY = 'last-backup'
const SCHEDULE_KEY = 'backup-schedule'
/** Exit code of `restore --check` for a file that cannot be restored. */
export const CANNOT_RESTORE = 3

const KEPT_MS = 10 * 365 * 86_400_000

export const recordBackup = (kv: KvKeys, nowMs: number): Promise<void> =>
  kv.cache(KEY, String(nowMs), KEPT_MS)

/** Epoch milliseconds; null: none is known. @throws KvUnavailable */
export async function lastBackupMs(kv: KvKeys): Promise<number | null> {
  const stored = await kv.cached(KEY)
  return stored === null ? null : Number(stored)
}

/** State of the backup schedule. Times are epoch milliseconds by the clocks of the stores. */
export interface BackupSchedule {
  readonly everyMs: number
  /** Since when backups are scheduled. */
  readonly sinceMs: number
  /** Time of the newest backup that can be restored, as far as is known; null: none. */
  readonly restorableMs: number | null
  /** Time of the newest backup that was restored into a scratch database; null: none. */
  readonly provenMs: number | null
  /** When the newest backup was last checked, whatever the result; null: never. */
  readonly checkedMs: number | null
  /** When a check was last attempted. Later than `checkedMs`: the newest backup could not be checked. */
  readonly checkTriedMs: number | null
  /** When the latest backup failed; null: it succeeded. */
  readonly backupFailedMs: number | null
  /** Since when checks have found the newest backup not restorable; null: the latest check passed. */
  readonly checkFailedMs: number | null
  /** When the scheduler last checked what is due. */
  readonly lookedMs: number
  /** When the scheduler resumed after a long pause of the installation; null: never. */
  readonly resumedMs: number | null
  /**
   * Value of `lastBackupMs` after the latest scheduled backup; a different value means that a backup was
   * taken by hand.
   */
  readonly ownMs: number | null
}

export const recordSchedule = (kv: KvKeys, schedule: BackupSchedule): Promise<void> =>
  kv.cache(SCHEDULE_KEY, JSON.stringify(schedule), KEPT_MS)

export const forgetSchedule = (kv: KvKeys): Promise<void> => kv.forget(SCHEDULE_KEY)

/** Null: backups are not scheduled, or the scheduler has not run yet. @throws KvUnavailable */
export async function readSchedule(kv: KvKeys): Promise<BackupSchedule | null> {
  const stored = await kv.cached(SCHEDULE_KEY)
  return stored === null ? null : (JSON.parse(stored) as BackupSchedule)
}

/**
 * Time of the newest scheduled backup that can be restored, or of a later one taken by hand; null: none is
 * known.
 */
export function newestMs(schedule: BackupSchedule | null, lastMs: number | null): number | null {
  if (schedule === null) return lastMs
  const { restorableMs, ownMs } = schedule
  return lastMs !== null && lastMs !== ownMs && lastMs > (restorableMs ?? 0) ? lastMs : restorableMs
}

/** The later one of two times that may be unknown. */
export const laterMs = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other)

/** The newest moment that a backup or the continuous archive can restore (epoch ms). @throws KvUnavailable */
export async function newestBackupMs(kv: KvKeys): Promise<number | null> {
  const [schedule, lastMs, archive] = await Promise.all([readSchedule(kv), lastBackupMs(kv), readArchive(kv)])
  return laterMs(newestMs(schedule, lastMs), archive?.restorableMs ?? null)
}

/** One backup may be missed; the alert is due with the next one. */
const OVERDUE_AFTER = 2
/** Time for the first backup after a pause of the installation (ms). */
const RESUME_MS = 2 * 3_600_000

/**
 * When the owner is alerted (epoch ms): the newest backup is too old, or the check has failed and no backup
 * was taken by hand since.
 * @param lastMs as `lastBackupMs`
 */
export function overdueMs(schedule: BackupSchedule, lastMs: number | null): number {
  const { everyMs, sinceMs, restorableMs, checkFailedMs, resumedMs } = schedule
  const newest = newestMs(schedule, lastMs)
  if (checkFailedMs !== null && (newest === restorableMs || newest! < checkFailedMs)) return checkFailedMs
  return Math.max((newest ?? sinceMs) + OVERDUE_AFTER * everyMs, (resumedMs ?? 0) + RESUME_MS)
}

/**
 * Records that the installation runs again after a pause in which backups became due. A process that dies
 * before it has checked records the pause only once.
 * @returns null: there was no pause
 */
export function resumedSchedule(known: BackupSchedule, nowMs: number): BackupSchedule | null {
  const wasPaused = nowMs - known.lookedMs > known.everyMs / 2
  return wasPaused && (known.resumedMs ?? 0) <= known.lookedMs ? { ...known, resumedMs: nowMs } : null
}
