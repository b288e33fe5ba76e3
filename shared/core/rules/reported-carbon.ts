/** Carbon of pilgrims' own reports. */
import { carbonMg, type Consumable, KG_PER_UNIT, type Mode, modeNamed } from './carbon.ts'

/** Counts of water, recycle and hotel, and kilometres by mode; a mode that is not in the table counts as bus. */
export interface Reported {
  readonly consumption: Readonly<Partial<Record<Consumable, number>>>
  readonly transport: Readonly<Record<string, number>>
}

/** A quantity (pieces or whole millimetres) and its carbon (whole milligrams, credits negative). */
export interface Amount {
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
