/**
 * Measures that keep others from locating the pilgrim of a claim (`shared/service/security/claims.ts`). Anyone may
 * write under a claim, so a public figure that compares such a write with the pilgrim's own places would measure
 * distances to them.
 */

/** Each is needed: without it an attacker of `tests/tracking` finds somebody (writing-attacker, sybils, presence). */
export const CLAIM_MEASURES = {
  /** Late points enter public figures at the next midnight. */
  lateAtMidnight: true,
  /** Until midnight, public figures count the distance between two points at walking pace at most. */
  walkingPace: true,
  /** Savings are computed from the coarse kilometres, without reports. */
  coarseSavings: true,
  /** Public sums contain the coarse kilometres of each claim. */
  coarseSums: true,
  /** A new place appears on the public map at the next full hour. */
  fullHours: true,
  /** No cell of the public map that is finer than 350 m counts a claim. */
  wideCells: true,
}

/** Six kilometres an hour, in millimetres a millisecond. */
const WALKING_PACE = 5 / 3

/** The length of a way in public figures, in whole millimetres. */
export const walkedMm = (mm: number, elapsedMs: number): number =>
  CLAIM_MEASURES.walkingPace ? Math.min(mm, Math.floor(elapsedMs * WALKING_PACE)) : mm
