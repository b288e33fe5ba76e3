/** What is asked of a run of mutants. */
import { parseArgs } from 'node:util'

export const HELP = `bun run test:mutants: plants faults, one at a time, in a copy of this tree, and runs the tests that should see each.

  --in <path>     a folder or file of the product; may be given several times.
                  If not said: everything that has a row in tests/mutants/rooms.ts
  --sample <n>    so many of the mutants, chosen by the seed; 50 if not said, 0: all
  --seed <n>      repeats a choice; a new one each time if not said
  --jobs <n>      mutants at a time, each in a copy of its own; 1 if not said
  --only <text>   mutants whose place (file:line:column) holds this text; the sample is drawn from these
  --thorough      runs each test on every driver; if not said, those that run on several run on servers only,
                  with one partition
  --list          prints the chosen mutants and their tests, and runs nothing
  --help          this text

A mutant is killed when a test fails, or when its tests take several times as long as they take without it.
The end is 0 when every mutant was killed or stands in tests/mutants/equivalents.ts, and 1 otherwise.`

export interface Options {
  readonly paths: readonly string[]
  /** 0: all. */
  readonly sample: number
  readonly seed: number
  readonly jobs: number
  readonly only: string
  readonly thorough: boolean
  readonly list: boolean
}

/**
 * Reads the command line.
 * @returns 'help' where help is asked for
 * @throws Error with a sentence for whoever typed it
 */
export function readOptions(args: readonly string[], randomSeed: number): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      in: { type: 'string', multiple: true, default: [] },
      sample: { type: 'string', default: '50' },
      seed: { type: 'string', default: `${randomSeed}` },
      jobs: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
      thorough: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return 'help'
  return {
    paths: values.in.map((path) => path.replace(/^\.\//, '').replace(/\/+$/, '')),
    sample: wholeNumber('--sample', values.sample, 0),
    seed: wholeNumber('--seed', values.seed, 0),
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

/** So many of the given things, the same ones for the same seed, in the order in which they were given. */
export function choose<T>(things: readonly T[], count: number, seed: number): T[] {
  if (count === 0 || count >= things.length) return [...things]
  let state = seed
  // Mulberry32.
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
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
