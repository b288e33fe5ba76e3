/**
 * A backup is taken daily. One that is older should be repeated: a day, and two hours in which the next one is taken.
 */
export const OLD_BACKUP_MS = 26 * 3_600_000
