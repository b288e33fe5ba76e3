/** Runs work that starts servers outside the test run, and removes their data and processes afterwards. */
import { rmSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killInside } from './signals.ts'
import { ensurePrograms } from './programs.ts'
import { type Server, startPostgres } from './servers.ts'

/**
 * Installs missing programs and runs `work` with a temporary directory for the servers' data. Ctrl-C exits with 130.
 * @param under the parent of that directory
 */
export async function inDirectory<T>(name: string, work: () => Promise<T>, under = tmpdir()): Promise<T> {
  await ensurePrograms()
  const directory = await mkdtemp(join(under, `pilgrimage-${name}-`))
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      killInside(directory)
      rmSync(directory, { recursive: true, force: true })
      process.exit(130)
    })
  // Postgres may run as another user, who must be able to enter this directory.
  await chmod(directory, 0o711)
  process.env.TEST_DIRECTORY = directory
  try {
    return await work()
  } finally {
    killInside(directory)
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** As {@link inDirectory}, with a Postgres for test databases. @param args additional settings */
export const besidePostgres = <T>(
  name: string,
  work: (postgres: Server) => Promise<T>,
  args: readonly string[] = [],
): Promise<T> =>
  inDirectory(name, async () => {
    await using postgres = await startPostgres({ args })
    process.env.TEST_POSTGRES_URL = postgres.url
    return await work(postgres)
  })
