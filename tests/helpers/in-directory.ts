/** Runs work that starts servers outside the test run, and removes their data and processes afterwards. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killInside } from './signals.ts'
import { ensurePrograms } from './programs.ts'

/**
 * Installs missing programs and runs `work` with a temporary directory for the servers' data.
 * @param under the parent of that directory
 */
export async function inDirectory<T>(name: string, work: () => Promise<T>, under = tmpdir()): Promise<T> {
  await ensurePrograms()
  const directory = await mkdtemp(join(under, `pilgrimage-${name}-`))
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
