/**
 * GPS counts weeks in ten bits. A receiver that does not know the present cycle of 1,024 weeks dates its positions
 * 7,168 days early (IS-GPS-200, 20.3.3.3.1.1).
 */
const CYCLE_MS = 7_168 * 86_400_000

/**
 * Corrects a time that is too old and that, one cycle later, lies in a period of plausible times.
 * @param ms epoch milliseconds, as are `from` and `to`, which belong to the period
 * @returns the corrected time, or the given one where the rule does not apply
 */
export function withoutRollover(ms: number, from: number, to: number): number {
  const corrected = ms + CYCLE_MS
  return ms < from && corrected >= from && corrected <= to ? corrected : ms
}
