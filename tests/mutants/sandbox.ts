/** A copy of the tree with its own servers, in which faults are planted. */
import { chmod, cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import postgres from 'postgres'
import { cleanEnvironment } from '#tests/helpers/clean-environment.ts'
import { type Server, startPostgres, startRedis } from '#tests/helpers/servers.ts'
import { killInside } from '#tests/helpers/signals.ts'
import { unmountInside } from '#tests/helpers/small-disk.ts'
import { type Mutant, planted } from './mutations.ts'

/** Default timeout of a test, as in `bun run test`. */
const TEST_MS = 60_000

/** Folders that are not part of the program. */
const NOT_COPIED = ['node_modules', '.git', 'data']

/** The outcome of a test file. */
export interface Outcome {
  readonly result: 'passed' | 'failed' | 'late'
  readonly ms: number
  /** The first failed test, or the end of the output. */
  readonly said: string
}

export interface Workplace {
  /** Plants a fault. @returns a function that removes it */
  plant(mutant: Mutant): Promise<() => Promise<void>>
  /** Runs a test file. @param boundMs after this time it is stopped and counts as late */
  test(file: string, boundMs: number): Promise<Outcome>
  close(): Promise<void>
}

/** Provides a directory for workplaces, and deletes it afterwards. */
export async function inWorkplaces<T>(work: (directory: string) => Promise<T>): Promise<T> {
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
 * @param root of the copied tree
 * @param directory where the copy is made
 * @param thorough whether each test is run on every driver, as in `bun run test:all`
 */
export async function openWorkplace(root: string, directory: string, thorough: boolean): Promise<Workplace> {
  const tree = await mkdtemp(join(directory, 'tree-'))
  await copyTree(root, tree)
  const servers = await startServers()
  const env = {
    ...cleanEnvironment(),
    ...(thorough ? { TEST_WHOLE: '1' } : {}),
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
