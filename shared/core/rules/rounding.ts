/** Rounding of exact sums for answers, cards and messages. */

/**
 * Kilometres of whole millimetres, 2 decimals, rounded down, so that no distance is shown before it is walked. The
 * distance that a level still needs is rounded up, so that both together are exactly the level's distance.
 */
export const roundKm = (mm: number): number => Math.floor(mm / 1e4) / 100

/**
 * Kilometres of whole millimetres, 3 decimals, to the nearest: for rows of a report, which readers add up. Rounded
 * down, the hours of an event would be a kilometre less than its days.
 */
export const roundKmOfRow = (mm: number): number => Math.round(mm / 1e3) / 1_000

/** Kilograms of whole milligrams, 3 decimals. */
export const roundKg = (mg: number): number => Math.round(mg / 1e3) / 1_000
