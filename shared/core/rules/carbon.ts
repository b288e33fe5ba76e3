/** Carbon coefficients (global warming potential), and the mode of a segment. */

/** kg CO2e per km (specification, "Carbon coefficients"). */
export const KG_PER_KM = {
  walk: 0,
  car: 0.30479,
  scooter: 0.13734,
  bike: 0.0122,
  bus: 0.47515,
  mrt: 0.07575,
  train: 0.07575,
  hsr: 0.07487,
} as const

/** kg CO2e per unit of what pilgrims report: 500 ml bottle, recycled bottle (a credit), hotel night. */
export const KG_PER_UNIT = { water: 0.10974, recycle: -0.00265, hotel: 8.85 } as const

export type Mode = keyof typeof KG_PER_KM
export type Consumable = keyof typeof KG_PER_UNIT

export const MODES = Object.keys(KG_PER_KM) as Mode[]

/** Speed up to which a segment without a mode counts as zero-emission. */
export const ZERO_EMISSION_KMH = 15

/** The mode that a client names; a name that is not in the table counts as bus (rule 1). */
export const modeNamed = (name: string): Mode => (Object.hasOwn(KG_PER_KM, name) ? (name as Mode) : 'bus')

/** The mode by a segment's own speed (rule 2): `walk` includes cycling and standing still. */
export const modeBySpeed = (distanceMm: number, elapsedMs: number): Mode =>
  // mm/ms is m/s; 3.6 × mm/ms ≤ 15, in whole numbers.
  distanceMm * 36 <= ZERO_EMISSION_KMH * 10 * elapsedMs ? 'walk' : 'bus'

/** Carbon of a distance in whole milligrams (1 kg/km is 1 mg/mm), rounded once. */
export const carbonMg = (distanceMm: number, mode: Mode): number => Math.round(distanceMm * KG_PER_KM[mode])

/** Savings of a distance against the bus, in whole milligrams; both parameters include reported kilometres. */
export const savedMg = (distanceMm: number, spentMg: number): number => carbonMg(distanceMm, 'bus') - spentMg
