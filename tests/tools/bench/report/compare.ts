/**
 * Compares the ratios of two runs. Ratios do not depend on the machine; those of CPU depend least on what else it does.
 */
import { z } from 'zod'
import { cpuRatios, type Goal, type Measured, median, spread } from '../measure.ts'
import { comparedOf } from './table.ts'

const Figure = z.object({
  name: z.string(),
  role: z.enum(['ours', 'limit', 'peer']),
  samples: z.array(z.number()),
  cpu: z.record(z.string(), z.array(z.number())).exactOptional(),
})
const Judged = z.object({
  of: z.string().nullable(),
  cpu: z.object({ ours: z.array(z.string()), other: z.array(z.string()).exactOptional() }).exactOptional(),
  ratios: z.array(z.number()),
})
const Row = z.object({
  id: z.string(),
  title: z.string(),
  unit: z.string(),
  figures: z.array(Figure),
  goals: z.array(Judged),
})

/** A run as written by `--json`. */
export const Run = z.object({ at: z.string(), scale: z.string(), machine: z.string(), rows: z.array(Row) })
export type Run = z.infer<typeof Run>

/** The smallest assumed noise between two runs. */
const LEAST_NOISE = 0.05
/**
 * A normal distribution's deviation is 1.48 times the median distance; values beyond three of them are rare.
 */
const DEVIATIONS = 3 * 1.48

export interface Difference {
  readonly what: string
  readonly before: number
  readonly after: number
  /** The noise as a share of `before`. */
  readonly noise: number
  readonly slower: boolean
}

interface Compared {
  readonly what: string
  readonly ratios: readonly number[]
  readonly isCost: boolean
}

/** What of a goal is compared: CPU beside the other contender's where it was measured, else the ratio of the goal. */
function comparable(figures: Measured['figures'], goal: Goal & Pick<Compared, 'ratios'>): Compared {
  const [ours] = figures
  const other = figures.find(({ name }) => name === goal.of)
  const ratios = goal.cpu === undefined && ours && other ? cpuRatios(ours, other) : null
  if (ratios !== null) return { what: `CPU / ${goal.of}`, ratios, isCost: true }
  return { what: comparedOf(goal), ratios: goal.ratios, isCost: (goal.atMost ?? Infinity) < Infinity }
}

/** All ratios that both runs have. */
export function compare(before: Run['rows'], after: readonly Measured[]): Difference[] {
  return after.flatMap(({ id, title, figures, goals }) => {
    const old = before.find((row) => row.id === id)
    const olds = old?.goals.map((goal) => comparable(old.figures, goal)) ?? []
    return goals.flatMap((goal): Difference[] => {
      const { what: compared, ratios, isCost } = comparable(figures, goal)
      const known = olds.find(({ what }) => what === compared)
      if (known === undefined) return []
      const [was, is] = [median(known.ratios), median(ratios)]
      const noise = Math.max(LEAST_NOISE, (DEVIATIONS * (spread(known.ratios) + spread(ratios))) / was)
      const worse = isCost ? is / was - 1 : 1 - is / was
      const what = compared === '' ? title : `${title}: ${compared}`
      return [{ what, before: was, after: is, noise, slower: worse > noise }]
    })
  })
}

export const differenceText = ({ what, before, after, noise, slower }: Difference): string =>
  `${slower ? 'SLOWER' : '      '} ${before.toFixed(3)} → ${after.toFixed(3)} (noise ${(noise * 100).toFixed(0)} %)  ${what}`
