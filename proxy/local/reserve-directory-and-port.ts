/** Reserves the data directory and the port of a run. Waits for an earlier run that is stopping, not for other programs. */
import { isDataDirectoryInUse, lockDataDirectory } from '#shared/runtime/data-directory-lock.ts'
import type { Log } from '#shared/runtime/log.ts'
import { type Address, expectFreePort } from './listen.ts'

/** An earlier run that is killed frees its port later than its lock. */
const PORT_TIMEOUT_MS = 2_000
const RETRY_MS = 50

/**
 * Locks the data directory, and checks that the port is free. A process that uses the port but not the directory is
 * another program, and is reported before any file is created.
 * @returns a function that unlocks the directory
 * @throws LoggableError with what to do; DataDirectoryInUse when another process locks the directory for 30 s
 */
export async function reserveDirectoryAndPort(
  { dataDir, ...address }: Address & { readonly dataDir: string },
  log: Log,
): Promise<() => void> {
  const hasPredecessor = isDataDirectoryInUse(dataDir)
  if (hasPredecessor) log.info('waiting for the process that uses the data directory to end', { dataDir })
  else expectFreePort(address)
  const unlock = lockDataDirectory(dataDir)
  const until = performance.now() + (hasPredecessor ? PORT_TIMEOUT_MS : 0)
  for (;;) {
    try {
      expectFreePort(address)
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
