/**
 * `bun run test`: the check (format, lint, types), then all tests on servers of their own.
 *
 *   bun tests/run.ts [--embedded] [arguments of bun test, such as parts of file names]
 *
 * With arguments for bun test it is a run of some tests, and the check is left out. The last line is
 * `N passed, N failed`, followed by `, N skipped` where some were.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { killInside } from './helpers/signals.ts'
import { ensurePrograms } from './helpers/programs.ts'
import { type Server, startPostgres, startRedis } from './helpers/servers.ts'

/** Bound of a test that sets none of its own. */
const TEST_MS = 60_000
/** Test files that run side by side: most of them wait most of the time. */
const ABREAST = 2
/** Time for a child that is told to end, before it is killed. */
const GRACE_MS = 5_000
const ROOT = join(import.meta.dir, '..')
/** Settings of the product that a shell or a .env file may hold; no test is to depend on them. */
const SETTINGS = /^(EVENT_|LINE_|S3_|(DATABASE|REDIS|NATS|OBJECTS)_URL|(PRIMARY|ALIAS)_HOST|TLS_MODE)/

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
    return await runTests(chosen, environment, join(directory, 'report.xml'))
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

/** Runs bun test, prints the closing line, and gives bun test's exit code. */
async function runTests(args: string[], env: Record<string, string>, report: string): Promise<number> {
  const reporter = ['--reporter=junit', `--reporter-outfile=${report}`]
  const options = [
    '--no-env-file',
    '--no-orphans',
    `--parallel=${ABREAST}`,
    `--timeout=${TEST_MS}`,
    ...reporter,
  ]
  const code = await run([process.execPath, 'test', ...options, ...args], env)
  if (interruptedBy !== undefined) return code
  const counts = await readCounts(report)
  if (counts === undefined) return failure('bun test ended before it was through', code)
  printCounts(counts, code)
  return code
}

async function run(command: string[], env: Record<string, string> = {}): Promise<number> {
  if (interruptedBy !== undefined) return 1
  const inherited = Object.entries(process.env).filter(([name]) => !SETTINGS.test(name))
  running = Bun.spawn(command, {
    cwd: ROOT,
    env: { ...Object.fromEntries(inherited), ...env },
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

interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** Reads a JUnit report; undefined where bun test ended before it could write one. */
async function readCounts(report: string): Promise<Counts | undefined> {
  const file = Bun.file(report)
  if (!(await file.exists())) return undefined
  const xml = await file.text()
  const totals = /<testsuites [^>]*>/.exec(xml)?.[0] ?? ''
  const count = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(totals)?.[1])
  const [tests, failed, skipped] = [count('tests'), count('failures'), count('skipped')]
  // The hooks of a skipped `describe` stand among the skipped tests, without a name.
  const hooks = xml.match(/<testcase name="\(unnamed\)"[^>]*>\s*<skipped/g)?.length ?? 0
  return { passed: tests - failed - skipped, failed, skipped: skipped - hooks }
}

/** What fails outside a test, such as a file that cannot be loaded, counts as one failure. */
function printCounts({ passed, failed, skipped }: Counts, code: number): void {
  const allFailed = code !== 0 && failed === 0 ? 1 : failed
  console.log(`\n${passed} passed, ${allFailed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
}

/** The run failed as a whole: one failure, and an exit code that says so. */
function failure(reason: string, code = 1): number {
  console.error(reason)
  printCounts({ passed: 0, failed: 1, skipped: 0 }, 1)
  return code || 1
}
