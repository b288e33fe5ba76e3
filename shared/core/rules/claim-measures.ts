/**
 * Measures that keep others from locating the pilgrim of a claim (`shared/service/security/claims.ts`). Anyone may
 * write under a claim, so a public figure that compares such a write with the pilgrim's own places would measure
 * distances to them.
 */

/** Each is needed: without it an attacker of `tests/tracking` finds somebody (writing-attacker, sybils, presence). */
export const CLAIM_MEASURES = {
  /** Late points enter public figures with the end of the event. */
  lateAtEnd: true,
  /** Until then, public figures measure the walk between cells, not between places. */
  betweenCells: true,
  /** Savings are computed from the coarse kilometres, without reports. */
  coarseSavings: true,
  /** Public sums contain the coarse kilometres of each claim. */
  coarseSums: true,
  /** A new place appears on the public map at the next full hour. */
  fullHours: true,
  /** No cell of the public map that is finer than 350 m counts a claim. */
  wideCells: true,
}

/** Zoom of the finest cells from which anything public about a claim is computed, about 350 m. */
export const CLAIM_ZOOM = 12
