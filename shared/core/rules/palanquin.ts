/**
 * Whether the palanquin leads the map: marks, arrival times and displays then follow it. The pages use the same rule.
 */

/** A device silent for longer has stopped (ms). Trackers report at least every few minutes. */
const SILENT_MS = 10 * 60_000

/**
 * Whether the palanquin's last place is current.
 * @param seenMs when it was there, epoch milliseconds
 * @param nowMs time of the map, epoch milliseconds
 */
export const leads = (seenMs: number, nowMs: number): boolean => nowMs - seenMs <= SILENT_MS
