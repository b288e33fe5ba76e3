/** How exact sums are shown. */

/**
 * Kilometres of whole millimetres, 2 decimals, rounded down: nobody reads a distance that is not walked yet. What a
 * level still needs is rounded up, so that both together are the level's distance to the last digit.
 */
export const roundKm = (mm: number): number => Math.floor(mm / 1e4) / 100

/** Kilograms of whole milligrams, 3 decimals. */
export const roundKg = (mg: number): number => Math.round(mg / 1e3) / 1_000
