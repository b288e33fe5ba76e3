/** The command line of `bun run test:mutants`. */
import type { parseArgs } from 'node:util'
import { createRandom } from '#tests/helpers/random.ts'

export const HELP = `Plants faults (mutants), one at a time, in a copy of the tree, and runs the tests of the changed file.

  bun run test:mutants [options]

  --in <path>     a folder or file of the product; may be given several times
                  (default: everything that tests/mutants/test-selection.ts lists)
  --sample <n>    how many mutants, chosen by the seed; 0: all (default: 50)
  --seed <n>      repeat the choice of an earlier run (default: a new seed)
  --skip <n>      leave out the first n of the sample, which an interrupted run has judged (default: 0)
  --jobs <n>      mutants at a time, each in its own copy of the tree (default: 1)
  --only <text>   only mutants whose place (file:line:column) contains this text
  --thorough      run each test on every driver (default: as in bun run test)
  --list          print the chosen mutants and their tests, and run nothing
  --help          print this text

A mutant is killed when a test fails, or when its tests take several times as long as without it.
Exit codes: 0 every mutant was killed or is listed in tests/mutants/equivalents.ts, 1 one was not, 2 wrong command line.`

export interface Options {
  readonly paths: readonly string[]
  /** 0: all. */
  readonly sample: number
  readonly seed: number
  readonly skip: number
  readonly jobs: number
  readonly only: string
  readonly thorough: boolean
  readonly list: boolean
}

/** Options as `parseArgs` of node:util takes them. */
export const OPTIONS = {
  in: { type: 'string', multiple: true, default: [] as string[] },
  sample: { type: 'string', default: '50' },
  seed: { type: 'string' },
  skip: { type: 'string', default: '0' },
  jobs: { type: 'string', default: '1' },
  only: { type: 'string', default: '' },
  thorough: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values']

/**
 * Checks the values of the command line.
 * @throws Error with a sentence that names the wrong option
 */
export function readOptions(values: Values, randomSeed: number): Options {
  return {
    paths: values.in.map((path) => path.replace(/^\.\//, '').replace(/\/+$/, '')),
    sample: wholeNumber('--sample', values.sample, 0),
    seed: wholeNumber('--seed', values.seed ?? `${randomSeed}`, 0),
    skip: wholeNumber('--skip', values.skip, 0),
    jobs: wholeNumber('--jobs', values.jobs, 1),
    only: values.only,
    thorough: values.thorough,
    list: values.list,
  }
}

function wholeNumber(name: string, text: string, least: number): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < least)
    throw new Error(`${name} must be a whole number, ${least} or more: ${text}`)
  return Number(text)
}

/** @returns a sample in the given order, the same one for the same seed */
export function choose<T>(things: readonly T[], count: number, seed: number): T[] {
  if (count === 0 || count >= things.length) return [...things]
  const random = createRandom(seed)
  const indices = things.map((_, i) => i)
  for (let i = 0; i < count; i++) {
    const j = i + Math.floor(random() * (indices.length - i))
    ;[indices[i], indices[j]] = [indices[j]!, indices[i]!]
  }
  return indices
    .slice(0, count)
    .sort((a, b) => a - b)
    .map((i) => things[i]!)
}
