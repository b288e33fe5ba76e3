/** The command line of `bun run test:mutants`. */
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { createOptionChecks } from '#tests/helpers/option-checks.ts'
import { createRandom, shuffled } from '#tests/helpers/random.ts'

const USAGE = `Plants faults (mutants), one at a time, in a copy of the tree, and runs the tests of the changed file.

  bun run test:mutants [options]

  --in <path>     a folder or file of the product; may be given several times
                  (default: everything that tests/tools/mutants/test-selection.ts lists)
  --sample <n>    how many mutants, chosen by the seed; 0: all (default: 50)
  --seed <n>      repeat the choice of an earlier run (default: a new seed)
  --skip <n>      leave out the first n of the sample, which an interrupted run has judged (default: 0)
  --jobs <n>      mutants at a time, each in its own copy of the tree (default: 1)
  --only <text>   only mutants whose place (file:line:column) contains this text
  --thorough      run each test on every driver (default: as in bun run test)
  --list          print the chosen mutants and their tests, and run nothing
  --help          print this text

A mutant is killed when a test fails, or when its tests take several times as long as without it.
Exit codes: 0 every mutant was killed or is listed in tests/tools/mutants/equivalents.ts, 1 one was not, 2 wrong command line.`

const MOST = 999_999_999

export type Options = ReturnType<typeof readOptions>

/** Reads the command line; a wrong one ends the process with exit code 2. */
export function readOptions() {
  const { values } = readCommandLine(USAGE, {
    in: { type: 'string', multiple: true, default: [] as string[] },
    sample: { type: 'string', default: '50' },
    seed: { type: 'string', default: `${Math.floor(Math.random() * 1e6)}` },
    skip: { type: 'string', default: '0' },
    jobs: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    thorough: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  })
  const { whole } = createOptionChecks(USAGE)
  return {
    ...values,
    paths: values.in.map((path) => path.replace(/^\.\//, '').replace(/\/+$/, '')),
    /** 0: all. */
    sample: whole('--sample', values.sample, 0, MOST),
    seed: whole('--seed', values.seed, 0, MOST),
    skip: whole('--skip', values.skip, 0, MOST),
    jobs: whole('--jobs', values.jobs, 1, MOST),
  }
}

/** @returns a sample in the given order, the same one for the same seed */
export function choose<T>(things: readonly T[], count: number, seed: number): T[] {
  if (count === 0 || count >= things.length) return [...things]
  const indices = things.map((_, i) => i)
  return shuffled(indices, createRandom(seed))
    .slice(0, count)
    .sort((a, b) => a - b)
    .map((i) => things[i]!)
}
