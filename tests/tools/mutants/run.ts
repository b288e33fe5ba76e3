/** `bun run test:mutants`: plants faults, one at a time, and reports those that no test detects. */
import { join, relative } from 'node:path'
import { equivalentOf } from './equivalents.ts'
import { type Mutant, mutantsOf, planted } from './mutations.ts'
import { choose, type Options, readOptions } from './options.ts'
import { type Candidate, createSelection, ROOMS, sourcesIn } from './test-selection.ts'
import { chmod, cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import postgres from 'postgres'
import { cleanEnvironment } from '#tests/helpers/clean-environment.ts'
import { type Server, startPostgres, startRedis } from '#tests/helpers/servers.ts'
import { killInside } from '#tests/helpers/signals.ts'
import { unmountInside } from '#tests/helpers/small-disk.ts'

/** Default timeout of a test, as in `bun run test`. */
const TEST_MS = 60_000

/** Folders that are not part of the program. */
const NOT_COPIED = ['node_modules', '.git', 'data']

/** The outcome of a test file. */
interface Outcome {
  readonly result: 'passed' | 'failed' | 'late'
  readonly ms: number
  /** The first failed test, or the end of the output. */
  readonly said: string
}

interface Workplace {
  /** Plants a fault. @returns a function that removes it */
  plant(mutant: Mutant): Promise<() => Promise<void>>
  /** Runs a test file. @param boundMs after this time it is stopped and counts as late */
  test(file: string, boundMs: number): Promise<Outcome>
  close(): Promise<void>
}

/** Provides a directory for workplaces, and deletes it afterwards. */
async function inWorkplaces<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'pilgrimage-mutants-'))
  // Postgres may run as another user than the owner of this directory.
  await chmod(directory, 0o711)
  process.env.TEST_DIRECTORY = directory
  try {
    return await work(directory)
  } finally {
    killInside(directory)
    await unmountInside(directory)
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

/**
 * @param root root of the copied tree
 * @param directory where the copy is created
 * @param thorough whether each test runs on every driver, as in `bun run test:all`
 */
async function openWorkplace(root: string, directory: string, thorough: boolean): Promise<Workplace> {
  const tree = await mkdtemp(join(directory, 'tree-'))
  await copyTree(root, tree)
  const servers = await startServers()
  const env = {
    ...cleanEnvironment(),
    ...(thorough ? { TEST_THOROUGH: '1' } : {}),
    TEST_POSTGRES_URL: servers.postgres,
    TEST_REDIS_URL: servers.redis,
  }
  let current: Bun.Subprocess | undefined

  return {
    async plant(mutant) {
      const file = join(tree, mutant.file)
      const text = await Bun.file(file).text()
      await Bun.write(file, planted(mutant, text))
      return async () => void (await Bun.write(file, text))
    },
    async test(file, boundMs) {
      const own = await mkdtemp(join(directory, 'run-'))
      await chmod(own, 0o711)
      const startedMs = performance.now()
      const child = Bun.spawn(
        [
          process.execPath,
          'test',
          '--no-env-file',
          '--no-orphans',
          '--bail=1',
          `--timeout=${TEST_MS}`,
          `./${file}`,
        ],
        { cwd: tree, env: { ...env, TEST_DIRECTORY: own }, stdio: ['ignore', 'pipe', 'pipe'] },
      )
      current = child
      let late = false
      const timer = setTimeout(() => {
        late = true
        child.kill('SIGKILL')
      }, boundMs)
      const [out, err] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ])
      clearTimeout(timer)
      const ms = performance.now() - startedMs
      await tidy(own, servers)
      const failed = /^\(fail\) (.*?)(?: \[[\d.]+ms\])?$/m.exec(`${out}\n${err}`)?.[1]
      if (late) return { result: 'late', ms, said: `not within ${Math.round(boundMs / 1_000)} s` }
      if (child.exitCode === 0) return { result: 'passed', ms, said: '' }
      return { result: 'failed', ms, said: failed ?? `${out}\n${err}`.trim().slice(-300) }
    },
    async close() {
      current?.kill('SIGKILL')
      await servers.close()
    },
  }
}

interface Servers {
  readonly postgres: string
  readonly redis: string
  /** Whether only this run uses them. */
  readonly areOwn: boolean
  close(): Promise<void>
}

/** The servers of the surrounding test run, or new ones. */
async function startServers(): Promise<Servers> {
  const { TEST_POSTGRES_URL, TEST_REDIS_URL } = process.env
  if (TEST_POSTGRES_URL !== undefined && TEST_REDIS_URL !== undefined)
    return {
      postgres: TEST_POSTGRES_URL,
      redis: TEST_REDIS_URL,
      areOwn: false,
      close: async () => undefined,
    }
  const started: Server[] = await Promise.all([startPostgres(), startRedis()])
  const [database, redis] = started
  return {
    postgres: database!.url,
    redis: redis!.url,
    areOwn: true,
    close: async () => void (await Promise.allSettled(started.map((server) => server.close()))),
  }
}

/** A run that stops at its first failure leaves its databases and processes behind. */
async function tidy(own: string, { postgres: url, areOwn }: Servers): Promise<void> {
  killInside(own)
  await unmountInside(own)
  await rm(own, { recursive: true, force: true, maxRetries: 5 })
  if (!areOwn) return
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  const names = await sql<{ datname: string }[]>`
    SELECT datname FROM pg_database WHERE datname LIKE 'test\\_%'`
  for (const { datname } of names) await sql.unsafe(`DROP DATABASE ${datname} WITH (FORCE)`)
  await sql.end()
}

async function copyTree(root: string, tree: string): Promise<void> {
  const filter = (path: string): boolean => !NOT_COPIED.includes(relative(root, path))
  await cp(root, tree, { recursive: true, filter })
  await symlink(join(root, 'node_modules'), join(tree, 'node_modules'))
}

/**
 * A test is late if it takes this many times as long as without a fault, plus a margin for a busy machine.
 */
const LATE_TIMES = 4
const LATE_MORE_MS = 30_000
/** Timeout and assumed time of a test file that has not been measured yet. */
const UNKNOWN_MS = 300_000
const GUESS_MS = 5_000
const SHOWN = 90
const ROOT = join(import.meta.dir, '../../..')

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
  const options = readOptions()
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

/**
 * Runs a test file without a fault, unless it has passed before.
 * @returns its failure, in which case it says nothing about a mutant
 */
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
