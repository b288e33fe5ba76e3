/** Age beyond which a backup is too old: a day, and two hours for the next daily backup to finish. */
export const OLD_BACKUP_MS = 26 * 3_600_000
