/** Rounding of exact sums for answers, cards and messages. */

/**
 * Kilometres from whole millimetres, 2 decimals, rounded down: no distance is shown before it is walked. The distance
 * to the next level is rounded up, so that both add up to the level's distance.
 */
export const roundKm = (mm: number): number => Math.floor(mm / 1e4) / 100

/**
 * Kilometres from whole millimetres, 3 decimals, to the nearest: for report rows, which readers add up. Rounded down,
 * the hours of an event would add up to a kilometre less than its days.
 */
export const roundKmOfRow = (mm: number): number => Math.round(mm / 1e3) / 1_000

/** Kilograms from whole milligrams, 3 decimals. */
export const roundKg = (mg: number): number => Math.round(mg / 1e3) / 1_000
