/**
 * `bun run test`: runs the check (format, lint, types) in parallel to the tests, on servers that this run
 * starts. `bun run test:all` adds the files named `*.long.test.ts` and the tests whose name ends with
 * "(long)", and also runs journeys on the embedded test stack; so does naming files.
 *
 * A run of selected tests (with arguments for `bun test`) skips the check. Failing files of a whole run are
 * run once more alone (`helpers/run-test-files.ts`), and timeouts are longer on a slow machine
 * (`helpers/time-limits.ts`). The last line is `N passed, N failed`, followed by `, N skipped`, `, N slow`
 * and `, N unsteady` if there are any.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { cleanEnvironment } from './helpers/clean-environment.ts'
import { killInside } from './helpers/signals.ts'
import { unmountInside } from './helpers/small-disk.ts'
import { ensurePrograms } from './helpers/programs.ts'
import { type Server, startPostgres, startRedis } from './helpers/servers.ts'
import { type Ran, runTestFiles } from './helpers/run-test-files.ts'
import { measureSlowness } from './helpers/time-limits.ts'

/** Test files that run at the same time. Most of them wait half of the time. */
const PARALLEL_FILES = 4
/** Duration in seconds of the slowest files. They start first, so that none runs alone at the end. */
const LONGEST_S: Readonly<Record<string, number>> = {
  'openapi/examples': 80,
  'browser/map': 55,
  'journeys/public-figures': 50,
  'browser/console': 45,
  'browser/walk': 45,
  'points/buffer': 33,
  'scheduler/flush': 30,
  'db/db': 30,
  'traces/traces': 29,
  'feedback-media/share-cards': 28,
  'kv/kv': 26,
  'bus/outbox': 26,
  'journeys/lifecycle': 25,
  'journeys/personal-data': 25,
  'line-bot/web-push': 23,
  'tracking/every-entrance': 23,
  'journeys/operating': 22,
  'line-bot/announcements': 22,
  'journeys/no-user-id': 22,
  'line-bot/webhook': 21,
  'line-bot/alerts': 21,
  'journeys/trackers': 21,
  'journeys/survey-profile': 21,
  'line-bot/refused-webhook-events': 20,
  'admin/stream': 20,
}
/** Assumed duration of any other file. */
const OTHERS_S = 4
/** The shared servers are never killed, so they need not sync; tests of kills start their own. */
const NO_SYNC = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'checkpoint_timeout=30min',
]
/** Time between SIGTERM and SIGKILL for a child process. */
const GRACE_MS = 5_000
/** Excludes tests that are named long. */
const SHORT = ['--path-ignore-patterns=**/*.long.test.ts', '--test-name-pattern=^(?!.* \\(long\\)$)']
const ROOT = join(import.meta.dir, '..')

const USAGE = `Runs the check (format, lint, types) and the tests. Servers that are not installed are installed with apt.

  bun run test [options] [part of a file's path …]
  bun run test:all [options]                                    also what is named long, and journeys embedded
  bun run test:embedded [options] [part of a file's path …]     without servers: the embedded run only

  -t, --test-name-pattern <regex>   only the tests whose name matches
  --rerun-each <n>                  run each test file n times
  --bail                            stop after the first failure
  --embedded                        the same as bun run test:embedded
  --all                             the same as bun run test:all
  --help                            print this text

With one of the first three options or a part of a path, the check does not run.
Exit codes: 0 all passed, 1 a failure, 2 wrong command line.`

const { values, positionals } = readCommandLine(
  USAGE,
  {
    embedded: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    'test-name-pattern': { type: 'string', short: 't' },
    'rerun-each': { type: 'string' },
    bail: { type: 'boolean', default: false },
  },
  Infinity,
)
const chosen = testArguments()
const isWhole = chosen.length === 0

let interruptedBy: NodeJS.Signals | undefined
const running = new Set<Bun.Subprocess>()

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupt(signal))
process.exitCode = await main().catch((error: unknown) =>
  failure(error instanceof Error ? error.message : Bun.inspect(error)),
)
if (interruptedBy !== undefined) {
  console.log(`Interrupted by ${interruptedBy}.`)
  process.exitCode = 128 + constants.signals[interruptedBy]
}

/** The arguments that go to `bun test`. */
function testArguments(): string[] {
  const { 'test-name-pattern': pattern, 'rerun-each': times, bail } = values
  return [
    ...(pattern === undefined ? [] : [`--test-name-pattern=${pattern}`]),
    ...(times === undefined ? [] : [`--rerun-each=${times}`]),
    ...(bail ? ['--bail'] : []),
    ...positionals,
  ]
}

/** @returns the exit code */
async function main(): Promise<number> {
  const { embedded } = values
  if (!embedded) await ensurePrograms()
  // Generates files that the check and the tests need.
  if (isWhole && (await run([process.execPath, 'run', 'postinstall'])) !== 0)
    return failure('The generated files could not be made; no test was run.')

  const directory = await mkdtemp(join(tmpdir(), 'pilgrimage-tests-'))
  // Postgres may run as another user, who must be able to enter this directory.
  await chmod(directory, 0o711)
  process.env.TEST_DIRECTORY = directory
  const servers: Server[] = []
  try {
    const environment: Record<string, string> = embedded
      ? { TEST_EMBEDDED_ONLY: '1' }
      : await startServers(servers)
    if (values.all || !isWhole) environment.TEST_THOROUGH = '1'
    const check = isWhole ? startCheck() : undefined
    const code = await runTests(environment, directory)
    const said = interruptedBy === undefined ? await check : undefined
    return said === undefined ? code : failure(`${said}\nThe check failed, which ended the tests.`)
  } finally {
    await clean(servers, directory)
  }
}

/**
 * Runs formatter, linter and type check with low priority: at equal priority, tests that measure time would
 * fail. A failed check ends the tests.
 * @returns its output if it failed
 */
async function startCheck(): Promise<string | undefined> {
  const child = Bun.spawn(['nice', '-n', '10', process.execPath, 'run', '--no-orphans', 'lint'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const said = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  running.delete(child)
  if ((await child.exited) === 0) return undefined
  for (const tests of running) tests.kill('SIGTERM')
  return said.join('\n')
}

/**
 * Starts the servers that all test files share.
 * @param started receives each server that has started
 * @returns their addresses, as environment variables
 */
async function startServers(started: Server[]): Promise<Record<string, string>> {
  const starts = await Promise.allSettled([
    startPostgres({ args: NO_SYNC }),
    startRedis({ args: ['--appendfsync', 'no'] }),
  ])
  for (const start of starts) if (start.status === 'fulfilled') started.push(start.value)
  for (const start of starts) if (start.status === 'rejected') throw start.reason
  const [postgres, redis] = started
  return { TEST_POSTGRES_URL: postgres!.url, TEST_REDIS_URL: redis!.url }
}

async function clean(servers: readonly Server[], directory: string): Promise<void> {
  const ends = await Promise.allSettled(servers.map((server) => server.close()))
  killInside(directory)
  await unmountInside(directory)
  await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

/** Runs the tests, prints the failures and the last line. @returns the exit code */
async function runTests(env: Record<string, string>, directory: string): Promise<number> {
  const timings = join(directory, 'timings.json')
  const durations = testFiles().map((file) => [
    file,
    1_000 * (LONGEST_S[/^tests\/(.*)\.test\.ts$/.exec(file)![1]!] ?? OTHERS_S),
  ])
  await Bun.write(timings, JSON.stringify({ version: 1, files: Object.fromEntries(durations) }))
  const whole = [`--parallel=${PARALLEL_FILES}`, `--timings=${timings}`]
  // Long files keep the machine busier than at the start, and an expired timeout stops the servers of its
  // file.
  const slowness = (values.all ? 2 : 1) * (await measureSlowness())
  if (slowness >= 1.5)
    console.log(`This machine is busy or slow: limits are ${slowness.toFixed(1)} times as long.`)
  const result = await runTestFiles({
    options: ['--no-env-file', '--no-orphans', ...(isWhole && !values.all ? SHORT : [])],
    first: [...whole, ...chosen],
    files: isWhole ? testFiles() : [],
    directory,
    slowness,
    measure: measureSlowness,
    async run(command, more, onStderr) {
      const code = await run(command, { ...env, ...more }, (chunk) => {
        process.stderr.write(chunk)
        onStderr(chunk)
      })
      return interruptedBy === undefined ? code : null
    },
  })
  if (result === null) return 1
  if (result.ran === undefined) return failure('bun test ended before all tests had run', result.code)
  return report(result.ran, result.code, result)
}

/** The test files of a whole run. */
function testFiles(): string[] {
  return [...new Bun.Glob('tests/**/*.test.ts').scanSync({ cwd: ROOT })].filter(
    (file) => values.all || !file.endsWith('.long.test.ts'),
  )
}

async function run(
  command: string[],
  env: Record<string, string> = {},
  onStderr?: (chunk: Uint8Array) => void,
): Promise<number> {
  if (interruptedBy !== undefined) return 1
  const child = Bun.spawn(command, {
    cwd: ROOT,
    env: { ...cleanEnvironment(), ...env },
    stdio: ['inherit', 'inherit', onStderr === undefined ? 'inherit' : 'pipe'],
  })
  running.add(child)
  try {
    if (child.stderr !== undefined) for await (const chunk of child.stderr) onStderr?.(chunk)
    return await child.exited
  } finally {
    running.delete(child)
  }
}

/** Ends the child processes; `main` then stops the servers. Under `bun run` each signal arrives twice. */
function interrupt(signal: NodeJS.Signals): void {
  interruptedBy ??= signal
  for (const child of running) {
    child.kill('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref()
  }
}

/** Prints every failure once more, and the last line. A failure outside a test, such as a file's, counts as one. */
function report(
  ran: readonly Ran[],
  code: number,
  { slow, unsteady }: { readonly slow: readonly Ran[]; readonly unsteady: readonly Ran[] },
): number {
  const of = (outcome: Ran['outcome']) => ran.filter((one) => one.outcome === outcome)
  const failures = of('failed')
  const kinds = Object.entries({ Slow: slow, Unsteady: unsteady, Failed: failures })
  for (const [kind, each] of kinds)
    for (const { file, test, said } of each) console.log(`\n${kind}: ${file}: ${test}\n${said}`)
  const failed = code !== 0 && failures.length === 0 ? 1 : failures.length
  const others = { skipped: of('skipped').length, slow: slow.length, unsteady: unsteady.length }
  const rest = Object.entries(others).flatMap(([what, count]) => (count > 0 ? [`, ${count} ${what}`] : []))
  console.log(`\n${of('passed').length} passed, ${failed} failed${rest.join('')}`)
  return code
}

/** The whole run failed: reports one failure, with a matching exit code. */
function failure(reason: string, code = 1): number {
  console.error(reason)
  return report([], code || 1, { slow: [], unsteady: [] })
}
