/** Runs something with servers of its own outside the test run, and leaves nothing behind. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killInside } from './signals.ts'
import { ensurePrograms } from './programs.ts'

/**
 * Installs what is missing, and gives `work` a directory in which the servers keep their data.
 * @param under where that directory is made
 */
export async function inDirectory<T>(name: string, work: () => Promise<T>, under = tmpdir()): Promise<T> {
  await ensurePrograms()
  const directory = await mkdtemp(join(under, `pilgrimage-${name}-`))
  // Postgres may run as another user than the one whose directory this is.
  await chmod(directory, 0o711)
  process.env.TEST_DIRECTORY = directory
  try {
    return await work()
  } finally {
    killInside(directory)
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}
