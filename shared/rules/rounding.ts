/** How exact sums are shown. */

/** Kilometres of whole millimetres, 2 decimals. */
export const shownKm = (mm: number): number => Math.round(mm / 1e4) / 100

/** Kilograms of whole milligrams, 3 decimals. */
export const shownKg = (mg: number): number => Math.round(mg / 1e3) / 1_000
