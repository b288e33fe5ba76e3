/** Hours without a point after which a pilgrim who takes part is called silent. */
export const SILENT_HOURS = 3
/** Who was not seen for so many hours has gone home, or is lost: they are not counted among the silent of the day. */
export const DAY_HOURS = 24

const HOUR_MS = 3_600_000

/**
 * Who is silent for so many hours was last seen before `beforeMs`, and after `sinceMs`: within a day, or for a day or
 * more at any time. Epoch milliseconds.
 */
export const silentBetween = (hours: number, nowMs: number) => ({
  sinceMs: hours < DAY_HOURS ? nowMs - DAY_HOURS * HOUR_MS : 0,
  beforeMs: nowMs - hours * HOUR_MS,
})
