/**
 * `bun run test`: the check (format, lint, types), then all tests on servers of their own.
 *
 *   bun tests/run.ts [--embedded] [arguments of bun test, such as parts of file names]
 *
 * With arguments for bun test it is a run of some tests, and the check is left out. Where no more than a few files of
 * all fail, each of them runs once more by itself: tests of time and of faults meet busy machines. What fails again has
 * failed; what passes then is told as unsteady, with what it said. The last line is `N passed, N failed`, followed by
 * `, N skipped` and `, N unsteady` where some were.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanEnvironment } from './helpers/clean-environment.ts'
import { killInside } from './helpers/signals.ts'
import { ensurePrograms } from './helpers/programs.ts'
import { type Ran, readReport } from './helpers/report.ts'
import { type Server, startPostgres, startRedis } from './helpers/servers.ts'

/** Bound of a test that sets none of its own. */
const TEST_MS = 60_000
/** Test files that run side by side: most of them wait most of the time. */
const ABREAST = 2
/** Files that may fail and be tried once more: where more fail, something is broken. */
const TRIED_AGAIN = 3
/** Time for a child that is told to end, before it is killed. */
const GRACE_MS = 5_000
const ROOT = join(import.meta.dir, '..')

let interruptedBy: NodeJS.Signals | undefined
let running: Bun.Subprocess | undefined

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupt(signal))
process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) =>
  failure(error instanceof Error ? error.message : Bun.inspect(error)),
)
if (interruptedBy !== undefined) {
  console.log(`Interrupted by ${interruptedBy}.`)
  process.exitCode = 128 + constants.signals[interruptedBy]
}

/** Runs everything and gives the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const embedded = args.includes('--embedded')
  const chosen = args.filter((arg) => arg !== '--embedded')
  if (!embedded) await ensurePrograms()
  if (chosen.length === 0 && (await run([process.execPath, 'run', 'check'])) !== 0)
    return failure('The check failed; no test was run.')

  const directory = await mkdtemp(join(tmpdir(), 'pilgrimage-tests-'))
  // Postgres may run as another user than the one whose directory this is.
  await chmod(directory, 0o711)
  process.env.TEST_DIRECTORY = directory
  const servers: Server[] = []
  try {
    const environment = embedded ? { TEST_EMBEDDED_ONLY: '1' } : await startServers(servers)
    return await runTests(chosen, environment, directory)
  } finally {
    await clean(servers, directory)
  }
}

/** Starts the servers that test files share, puts each into `started`, and gives their addresses. */
async function startServers(started: Server[]): Promise<Record<string, string>> {
  const starts = await Promise.allSettled([startPostgres(), startRedis()])
  for (const start of starts) if (start.status === 'fulfilled') started.push(start.value)
  for (const start of starts) if (start.status === 'rejected') throw start.reason
  const [postgres, redis] = started
  return { TEST_POSTGRES_URL: postgres!.url, TEST_REDIS_URL: redis!.url }
}

async function clean(servers: readonly Server[], directory: string): Promise<void> {
  const ends = await Promise.allSettled(servers.map((server) => server.close()))
  killInside(directory)
  await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

/** Runs the tests, prints what failed and the closing line, and gives the exit code. */
async function runTests(args: string[], env: Record<string, string>, directory: string): Promise<number> {
  const first = await attempt(ABREAST, args, env, join(directory, 'report.xml'))
  if (interruptedBy !== undefined) return first.code
  if (first.ran === undefined) return failure('bun test ended before it was through', first.code)
  const files = first.code === 0 || args.length > 0 ? [] : troubledFiles(first.ran)
  if (files.length === 0 || files.length > TRIED_AGAIN) return tell(first.ran, first.code)

  console.log(`\nFailed beside others, each once more by itself: ${files.join(', ')}`)
  const again = await attempt(1, files, env, join(directory, 'again.xml'))
  if (interruptedBy !== undefined) return again.code
  if (again.ran === undefined) return tell(first.ran, first.code)
  const others = first.ran.filter(({ file }) => !files.includes(file))
  const unsteady = first.ran.filter(
    ({ test, outcome }) =>
      outcome === 'failed' && !again.ran!.some((one) => one.test === test && one.outcome === 'failed'),
  )
  return tell([...others, ...again.ran], again.code, unsteady)
}

/** Files in which a test failed, and those that could not be loaded. */
function troubledFiles(ran: readonly Ran[]): string[] {
  const files = [...new Bun.Glob('tests/**/*.test.ts').scanSync({ cwd: ROOT })]
  return files.filter((file) => {
    const mine = ran.filter((one) => one.file === file)
    return mine.length === 0 || mine.some(({ outcome }) => outcome === 'failed')
  })
}

/** Runs bun test once; no report where it ended before it was through. */
async function attempt(
  abreast: number,
  args: readonly string[],
  env: Record<string, string>,
  path: string,
): Promise<{ code: number; ran: Ran[] | undefined }> {
  const reporter = ['--reporter=junit', `--reporter-outfile=${path}`]
  const options = [
    '--no-env-file',
    '--no-orphans',
    `--parallel=${abreast}`,
    `--timeout=${TEST_MS}`,
    ...reporter,
  ]
  const code = await run([process.execPath, 'test', ...options, ...args], env)
  return { code, ran: await readReport(path) }
}

async function run(command: string[], env: Record<string, string> = {}): Promise<number> {
  if (interruptedBy !== undefined) return 1
  running = Bun.spawn(command, {
    cwd: ROOT,
    env: { ...cleanEnvironment(), ...env },
    stdio: ['inherit', 'inherit', 'inherit'],
  })
  try {
    return await running.exited
  } finally {
    running = undefined
  }
}

/** Ends what runs just now; `main` then stops the servers on its way out. Under `bun run` signals arrive twice. */
function interrupt(signal: NodeJS.Signals): void {
  interruptedBy ??= signal
  const child = running
  child?.kill('SIGTERM')
  setTimeout(() => child?.kill('SIGKILL'), GRACE_MS).unref()
}

/** Prints every failure once more, and the closing line. What fails outside a test, such as a file, counts as one. */
function tell(ran: readonly Ran[], code: number, unsteady: readonly Ran[] = []): number {
  const of = (outcome: Ran['outcome']) => ran.filter((one) => one.outcome === outcome)
  const failures = of('failed')
  for (const { file, test, said } of unsteady) console.log(`\nUnsteady: ${file}: ${test}\n${said}`)
  for (const { file, test, said } of failures) console.log(`\nFailed: ${file}: ${test}\n${said}`)
  const failed = code !== 0 && failures.length === 0 ? 1 : failures.length
  const others = { skipped: of('skipped').length, unsteady: unsteady.length }
  const rest = Object.entries(others).flatMap(([what, count]) => (count > 0 ? [`, ${count} ${what}`] : []))
  console.log(`\n${of('passed').length} passed, ${failed} failed${rest.join('')}`)
  return code
}

/** The run failed as a whole: one failure, and an exit code that says so. */
function failure(reason: string, code = 1): number {
  console.error(reason)
  return tell([], code || 1)
}
