/** Carbon of what pilgrims report of themselves. */
import { carbonMg, type Consumable, KG_PER_UNIT, modeNamed } from './carbon.ts'

/** Counts of water, recycle and hotel, and kilometres by mode; a mode the table does not know is a bus. */
export interface Reported {
  readonly consumption: Readonly<Record<string, number>>
  readonly transport: Readonly<Record<string, number>>
}

const CONSUMABLES = Object.keys(KG_PER_UNIT) as Consumable[]

/** Whole milligrams, credits negative. */
export const consumptionMg = (consumption: Reported['consumption']): number =>
  CONSUMABLES.reduce((sum, name) => sum + Math.round((consumption[name] ?? 0) * KG_PER_UNIT[name] * 1e6), 0)

/** Self-reported kilometres as whole millimetres, their carbon, and what they save against the bus. */
export function transportSums(transport: Reported['transport']): {
  readonly distanceMm: number
  readonly carbonMg: number
  readonly savedMg: number
} {
  const sums = { distanceMm: 0, carbonMg: 0, savedMg: 0 }
  for (const [name, km] of Object.entries(transport)) {
    const mm = Math.round(km * 1e6)
    const mg = carbonMg(mm, modeNamed(name))
    sums.distanceMm += mm
    sums.carbonMg += mg
    sums.savedMg += carbonMg(mm, 'bus') - mg
  }
  return sums
}
