/**
 * What is known of backups. It is in the kv, where every service reads it. When the kv loses it, the scheduler finds
 * the backups of its schedule again, in their folder.
 */
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
  const held = await kv.cached(KEY)
  return held === null ? null : Number(held)
}

/** How the schedule of backups is kept. Times are epoch milliseconds, by the clocks of the stores. */
export interface BackupSchedule {
  readonly everyMs: number
  /** Since when backups are scheduled. */
  readonly sinceMs: number
  /** Moment of the newest backup that can be restored, as far as is known; null: none. */
  readonly restorableMs: number | null
  /** Moment of the newest backup that was restored into a scratch database; null: none. */
  readonly provenMs: number | null
  /** When the newest one was last found restorable or not; null: never. */
  readonly checkedMs: number | null
  /** When a check was last tried. Later than `checkedMs`: the newest backup could not be checked. */
  readonly checkTriedMs: number | null
  /** When the latest backup failed; null: it did not. */
  readonly backupFailedMs: number | null
  /** Since when checks have found that the newest backup cannot be restored; null: the latest found that it can. */
  readonly checkFailedMs: number | null
}

export const recordSchedule = (kv: KvKeys, schedule: BackupSchedule): Promise<void> =>
  kv.cache(SCHEDULE_KEY, JSON.stringify(schedule), KEPT_MS)

export const forgetSchedule = (kv: KvKeys): Promise<void> => kv.forget(SCHEDULE_KEY)

/** Null: backups are not scheduled, or the scheduler has not looked yet. @throws KvUnavailable */
export async function readSchedule(kv: KvKeys): Promise<BackupSchedule | null> {
  const held = await kv.cached(SCHEDULE_KEY)
  return held === null ? null : (JSON.parse(held) as BackupSchedule)
}

/** Moment of the newest backup that can be restored, as far as is known; null: none. @throws KvUnavailable */
export async function newestBackupMs(kv: KvKeys): Promise<number | null> {
  const schedule = await readSchedule(kv)
  return schedule === null ? lastBackupMs(kv) : schedule.restorableMs
}

/** A backup may be missed once: the next one is due then. */
const OVERDUE_AFTER = 2

/** From then on the owner is alerted (epoch ms): the newest restorable backup is too old, or the check has failed. */
export const overdueMs = (schedule: BackupSchedule): number =>
  schedule.checkFailedMs ?? (schedule.restorableMs ?? schedule.sinceMs) + OVERDUE_AFTER * schedule.everyMs
