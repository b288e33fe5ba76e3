/** A run's place: its data directory and its port. A predecessor that is stopping is waited for, a stranger is not. */
import { isDataDirectoryInUse, lockDataDirectory } from '#shared/runtime/data-directory-lock.ts'
import type { Log } from '#shared/runtime/log.ts'
import { type Address, expectFree } from './listen.ts'

/** A predecessor that was killed loses its lock and its port one after the other. */
const PORT_WAIT_MS = 2_000
const RETRY_MS = 50

/**
 * Locks the data directory, and sees that the port is free. Whoever has the port without the directory is a stranger,
 * and is told of before anything is made.
 * @returns what unlocks the directory
 * @throws with what to do about it; DataDirectoryInUse when another process keeps the directory for 30 s
 */
export async function takePlace(
  { dataDir, ...address }: Address & { readonly dataDir: string },
  log: Log,
): Promise<() => void> {
  const hasPredecessor = isDataDirectoryInUse(dataDir)
  if (hasPredecessor) log.info('waiting for the process that keeps the data directory to end', { dataDir })
  else expectFree(address)
  const unlock = lockDataDirectory(dataDir)
  const until = performance.now() + (hasPredecessor ? PORT_WAIT_MS : 0)
  for (;;) {
    try {
      expectFree(address)
      return unlock
    } catch (error) {
      if (performance.now() >= until) {
        unlock()
        throw error
      }
      await Bun.sleep(RETRY_MS)
    }
  }
}
