/**
 * Clocks that a test may set, one for each service, by Debian's libfaketime. Redis does not start with that library
 * (its allocator reads the time before the library is ready), so its clock cannot be set.
 */
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { newDirectory } from '#tests/helpers/process.ts'

/** Time until a change takes effect: the library reads its file once a second. */
export const CLOCK_NOTICED_MS = 1_500

export interface Clocks {
  /** Settings of a process that uses this clock. */
  env(name: string): Record<string, string>
  /** Sets a clock's offset from the machine's clock. */
  set(name: string, offsetS: number): void
  /** To be called when all processes that use them have ended. */
  close(): void
}

const SHARED = '/dev/shm'

/** Deletes the library's files of killed processes; later processes may get the same ids and would use them. */
function sweep(): void {
  for (const name of readdirSync(SHARED)) {
    const pid = /^(?:sem\.)?faketime_(?:shm|sem)_(\d+)$/.exec(name)?.[1]
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(SHARED, name), { force: true })
  }
}

function library(): string | null {
  const [found] = new Bun.Glob('usr/lib/*/faketime/libfaketimeMT.so.1').scanSync({
    cwd: '/',
    absolute: true,
    onlyFiles: false,
  })
  return found !== undefined && existsSync(found) ? found : null
}

/** Without the library, prints a warning and returns null. */
export async function openClocks(): Promise<Clocks | null> {
  const path = library()
  if (path === null) {
    console.warn('SKIPPED, steps of clocks: libfaketime is missing (apt-get install faketime)')
    return null
  }
  const dir = await newDirectory('clocks')
  // Postgres may run as another user.
  await chmod(dir, 0o755)
  const fileOf = (name: string) => join(dir, name)
  const set = (name: string, offsetS: number) =>
    writeFileSync(fileOf(name), `${offsetS < 0 ? '' : '+'}${offsetS}\n`, { mode: 0o644 })
  return {
    set,
    close: sweep,
    env(name) {
      set(name, 0)
      return {
        LD_PRELOAD: path,
        FAKETIME_TIMESTAMP_FILE: fileOf(name),
        FAKETIME_CACHE_DURATION: '1',
        // Only the wall clock is set, as by an administrator or NTP.
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      }
    },
  }
}
