/** Compares the ratios of two runs. Ratios do not depend on the machine. */
import { z } from 'zod'
import { type Measured, median, spread } from '../measure.ts'
import { comparedOf } from './table.ts'

const Figure = z.object({
  name: z.string(),
  role: z.enum(['ours', 'limit', 'peer']),
  samples: z.array(z.number()),
  cpu: z.record(z.string(), z.number()).exactOptional(),
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

/** A run as `--json` writes it. */
export const Run = z.object({ at: z.string(), scale: z.string(), machine: z.string(), rows: z.array(Row) })
export type Run = z.infer<typeof Run>

/** The smallest assumed noise between two runs. */
const LEAST_NOISE = 0.05
/** A normal distribution's deviation is 1.48 times the median distance; three of them are seldom left. */
const DEVIATIONS = 3 * 1.48

export interface Difference {
  readonly what: string
  readonly before: number
  readonly after: number
  /** The noise as a share of `before`. */
  readonly noise: number
  readonly slower: boolean
}

/** Every ratio that both runs have. */
export function compare(before: Run['rows'], after: readonly Measured[]): Difference[] {
  return after.flatMap(({ id, title, goals }) =>
    goals.flatMap((goal): Difference[] => {
      const { ratios, atMost = Infinity } = goal
      const compared = comparedOf(goal)
      const old = before.find((row) => row.id === id)?.goals.find((other) => comparedOf(other) === compared)
      if (old === undefined) return []
      const [was, is] = [median(old.ratios), median(ratios)]
      const noise = Math.max(LEAST_NOISE, (DEVIATIONS * (spread(old.ratios) + spread(ratios))) / was)
      const worse = atMost < Infinity ? is / was - 1 : 1 - is / was
      const what = compared === '' ? title : `${title}: ${compared}`
      return [{ what, before: was, after: is, noise, slower: worse > noise }]
    }),
  )
}

export const differenceText = ({ what, before, after, noise, slower }: Difference): string =>
  `${slower ? 'SLOWER' : '      '} ${before.toFixed(3)} → ${after.toFixed(3)} (noise ${(noise * 100).toFixed(0)} %)  ${what}`
