/** `bun run test:mutants`: plants faults, one at a time, and reports those that no test detects. */
import { join } from 'node:path'
import { equivalentOf } from './equivalents.ts'
import { type Mutant, mutantsOf } from './mutations.ts'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { choose, HELP, type Options, OPTIONS, readOptions } from './options.ts'
import { type Candidate, createSelection, ROOMS, sourcesIn } from './test-selection.ts'
import { inWorkplaces, openWorkplace, type Outcome, type Workplace } from './sandbox.ts'

/** A test is late when it takes this many times as long as without a fault, plus a margin for a busy machine. */
const LATE_TIMES = 4
const LATE_MORE_MS = 30_000
/** Timeout and assumed time of a test file that has not been measured yet. */
const UNKNOWN_MS = 300_000
const GUESS_MS = 5_000
const SHOWN = 90
const ROOT = join(import.meta.dir, '../..')

interface Verdict {
  readonly mutant: Mutant
  readonly how: 'killed' | 'late' | 'survived' | 'equivalent' | 'unknown'
  readonly said: string
}

let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => (isInterrupted = true))

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : Bun.inspect(error))
  return 1
})

async function main(): Promise<number> {
  const options = readOptions(readCommandLine(HELP, OPTIONS).values, Math.floor(Math.random() * 1e6))
  const chosen = await choice(options)
  const select = createSelection(ROOT)
  const tests: Tests = new Map(chosen.map(({ file }) => [file, select(file)]))
  if (options.list) {
    for (const mutant of chosen) {
      const names = tests.get(mutant.file)!.map(({ test }) => test)
      console.log(`${shown(mutant)}\n    ${names.join(' ')}`)
    }
    return 0
  }
  const verdicts = await inWorkplaces((directory) => plantAll(chosen, tests, options, directory))
  return tell(verdicts, chosen.length)
}

async function choice({ paths, sample, seed, skip, only }: Options): Promise<Mutant[]> {
  const places = paths.length > 0 ? paths : ROOMS.map(({ source }) => source)
  const files = [...new Set(places.flatMap((path) => sourcesIn(ROOT, path)))]
  const all: Mutant[] = []
  for (const file of files) all.push(...mutantsOf(file, await Bun.file(join(ROOT, file)).text()))
  const eligible = all.filter((mutant) => placeOf(mutant).includes(only))
  const chosen = choose(eligible, sample, seed).slice(skip)
  console.log(`${eligible.length} mutants of ${files.length} files; ${chosen.length} by --seed ${seed}`)
  return chosen
}

/** Durations of passed test files in milliseconds. */
type Times = Map<string, number>
/** Tests that may detect a fault, by file. */
type Tests = ReadonlyMap<string, readonly Candidate[]>

/** Plants the mutants concurrently. An interrupted run returns the verdicts so far. */
async function plantAll(
  chosen: readonly Mutant[],
  tests: Tests,
  { jobs, thorough }: Options,
  directory: string,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  const waiting = [...chosen]
  const times: Times = new Map()
  const work = async (): Promise<void> => {
    const place = await openWorkplace(ROOT, directory, thorough)
    try {
      for (let mutant = waiting.shift(); mutant !== undefined && !isInterrupted; mutant = waiting.shift()) {
        const startedMs = performance.now()
        const verdict = await judge(place, mutant, tests.get(mutant.file)!, times)
        // Failures during an interruption are ignored.
        if (isInterrupted) return
        verdicts.push(verdict)
        const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
        console.log(
          `[${verdicts.length}/${chosen.length}] ${verdict.how} ${seconds} s  ${shown(mutant)}\n    ${verdict.said}`,
        )
      }
    } finally {
      await place.close()
    }
  }
  await Promise.all(Array.from({ length: Math.min(jobs, chosen.length) }, work))
  return verdicts
}

/** Runs the tests that may detect a fault, the nearest first, until one fails. */
async function judge(
  place: Workplace,
  mutant: Mutant,
  candidates: readonly Candidate[],
  times: Times,
): Promise<Verdict> {
  const equivalent = equivalentOf(mutant)
  if (equivalent !== undefined) return { mutant, how: 'equivalent', said: equivalent.why }
  const tests = candidates
    .map(({ test, distance }) => ({ test, weight: distance * (times.get(test) ?? GUESS_MS) }))
    .sort((a, b) => a.weight - b.weight)
  const mend = await place.plant(mutant)
  let outcome: Outcome | undefined
  let by = ''
  for ({ test: by } of tests) {
    const known = times.get(by)
    outcome = await place.test(by, known === undefined ? UNKNOWN_MS : LATE_TIMES * known + LATE_MORE_MS)
    if (outcome.result !== 'passed') break
    times.set(by, outcome.ms)
  }
  await mend()
  if (outcome === undefined || outcome.result === 'passed')
    return { mutant, how: 'survived', said: `${tests.length} test files passed` }
  const fault = await failureWithoutFault(place, by, times)
  if (fault !== undefined) return { mutant, how: 'unknown', said: `${by} fails without any fault: ${fault}` }
  return { mutant, how: outcome.result === 'late' ? 'late' : 'killed', said: `${by}: ${outcome.said}` }
}

/** Runs a test file without a fault, unless it has passed before. @returns its failure: then it says nothing of a mutant */
async function failureWithoutFault(
  place: Workplace,
  test: string,
  times: Times,
): Promise<string | undefined> {
  if (times.has(test)) return undefined
  const { result, ms, said } = await place.test(test, UNKNOWN_MS)
  if (result !== 'passed') return said
  times.set(test, ms)
  return undefined
}

function placeOf({ file, line, column }: Mutant): string {
  return `${file}:${line}:${column}`
}

function shown(mutant: Mutant): string {
  const [original, replacement] = [mutant.original, mutant.replacement].map((text) => {
    const line = text.replace(/\s+/g, ' ').trim()
    return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line
  })
  return `${placeOf(mutant)}  ${original}  →  ${replacement}`
}

/** Prints the survivors and the summary. @returns the exit code */
function tell(verdicts: readonly Verdict[], chosen: number): number {
  const of = (how: Verdict['how']) => verdicts.filter((verdict) => verdict.how === how)
  const [late, survived, equivalent, unknown] = [of('late'), of('survived'), of('equivalent'), of('unknown')]
  const killed = of('killed').length + late.length
  for (const { mutant, said } of equivalent) console.log(`\nEquivalent: ${shown(mutant)}\n    ${said}`)
  for (const { mutant } of survived) console.log(`\nSurvived: ${shown(mutant)}`)
  for (const { mutant, said } of unknown) console.log(`\nNot judged: ${shown(mutant)}\n    ${said}`)
  const judged = verdicts.length - equivalent.length - unknown.length
  const percent = judged === 0 ? 100 : (100 * killed) / judged
  const rest = [
    ...(late.length > 0 ? [`${late.length} of them by timeout`] : []),
    ...(equivalent.length > 0 ? [`${equivalent.length} equivalent besides`] : []),
    ...(unknown.length > 0 ? [`${unknown.length} not judged`] : []),
    ...(verdicts.length < chosen ? [`${chosen - verdicts.length} not tried`] : []),
  ]
  console.log(
    `\n${killed} of ${judged} killed (${percent.toFixed(1)} %)${rest.map((what) => `, ${what}`).join('')}`,
  )
  return survived.length + unknown.length > 0 || verdicts.length < chosen ? 1 : 0
}
