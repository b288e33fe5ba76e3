/**
 * What keeps others from measuring where a claim's pilgrim is (`shared/service/security/claims.ts`). Anybody may write in
 * the name of a claim, so a public figure that compares such a write with the pilgrim's own places is a ruler.
 */

/** Each is needed: the attacker in `tests/tracking/writing-attacker.long.test.ts` switches them off one by one. */
export const CLAIM_MEASURES = {
  /** Points from before the newest one enter the figures of others at the next midnight. */
  lateAtMidnight: true,
  /** Until midnight the way between two points counts for others at most as far as somebody walks in its time. */
  walkingPace: true,
  /** Savings follow from the coarse kilometres, and not from reports. */
  coarseSavings: true,
  /** Public sums have the coarse kilometres of each claim. */
  coarseSums: true,
  /** A place changes the public map with the next full hour. */
  fullHours: true,
}

/** Six kilometres an hour, in millimetres a millisecond. */
const WALKING_PACE = 5 / 3

/** What others are shown of a way, in whole millimetres. */
export const walkedMm = (mm: number, elapsedMs: number): number =>
  CLAIM_MEASURES.walkingPace ? Math.min(mm, Math.floor(elapsedMs * WALKING_PACE)) : mm
