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
type Consumable = keyof typeof KG_PER_UNIT

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

// Carbon of pilgrims' own reports.

/** Counts of water, recycle and hotel, and kilometres by mode; a mode that is not in the table counts as bus. */
export interface Reported {
  readonly consumption: Readonly<Partial<Record<Consumable, number>>>
  readonly transport: Readonly<Record<string, number>>
}

/** A quantity (pieces or whole millimetres) and its carbon (whole milligrams, credits negative). */
interface Amount {
  amount: number
  carbonMg: number
}

const CONSUMABLES = Object.keys(KG_PER_UNIT) as Consumable[]

const pieces = (count: number, name: Consumable): Amount => ({
  amount: count,
  carbonMg: Math.round(count * KG_PER_UNIT[name] * 1e6),
})

/** Rounded once per pilgrim and name, so that sums are the same in any grouping. */
function kilometres(km: number, mode: Mode): Amount {
  const amount = Math.round(km * 1e6)
  return { amount, carbonMg: carbonMg(amount, mode) }
}

/** A pilgrim's reported amounts, by consumable and mode. */
export function reportedAmounts({ consumption, transport }: Reported): Map<Consumable | Mode, Amount> {
  const amounts = new Map<Consumable | Mode, Amount>()
  const add = (name: Consumable | Mode, { amount, carbonMg: mg }: Amount): void => {
    const sum = amounts.getOrInsertComputed(name, () => ({ amount: 0, carbonMg: 0 }))
    sum.amount += amount
    sum.carbonMg += mg
  }
  for (const name of CONSUMABLES) if (consumption[name]) add(name, pieces(consumption[name], name))
  for (const [name, km] of Object.entries(transport)) add(modeNamed(name), kilometres(km, modeNamed(name)))
  return amounts
}

/** Carbon of reported consumption, in whole milligrams, credits negative. */
export const consumptionMg = (consumption: Reported['consumption']): number =>
  CONSUMABLES.reduce((sum, name) => sum + pieces(consumption[name] ?? 0, name).carbonMg, 0)

/** Self-reported kilometres as whole millimetres, and their carbon. */
export function transportSums(transport: Reported['transport']): {
  readonly distanceMm: number
  readonly carbonMg: number
} {
  const sums = { distanceMm: 0, carbonMg: 0 }
  for (const { amount, carbonMg: mg } of reportedAmounts({ consumption: {}, transport }).values()) {
    sums.distanceMm += amount
    sums.carbonMg += mg
  }
  return sums
}
