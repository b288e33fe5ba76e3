/** Hours without a point after which a pilgrim counts as silent. */
export const SILENT_HOURS = 3
/** A pilgrim silent for this long has gone home or is lost, and is not counted among those silent today. */
export const DAY_HOURS = 24

const HOUR_MS = 3_600_000

/**
 * Bounds of the last-seen time of pilgrims silent for at least this many hours: before `beforeMs` and after `sinceMs`
 * (within a day, or any time for a day or more). Epoch milliseconds.
 */
export const silentBetween = (hours: number, nowMs: number) => ({
  sinceMs: hours < DAY_HOURS ? nowMs - DAY_HOURS * HOUR_MS : 0,
  beforeMs: nowMs - hours * HOUR_MS,
})
