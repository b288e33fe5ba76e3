/**
 * Clocks that a test may turn, one for each service, by Debian's libfaketime. Redis does not start with that
 * library (its allocator asks for the time before the library is ready), so its clock is not turned.
 */
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '#shared/config/config.ts'
import { newDirectory } from '#tests/helpers/process.ts'

/** How long a turned clock takes to be noticed: the library looks at its file once a second. */
export const CLOCK_NOTICED_MS = 1_500

export interface Clocks {
  /** Settings of a process that looks at this clock. */
  env(name: string): Environment
  /** Sets a clock so far off the machine's, for all who look at it. */
  set(name: string, offsetS: number): void
  /** Once nobody looks at them any more. */
  close(): void
}

const SHARED = '/dev/shm'

/** Deletes what the library leaves of processes that were killed: others get their numbers, and would find it. */
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

/** Null, and said so, where the library is not installed. */
export async function openClocks(): Promise<Clocks | null> {
  const path = library()
  if (path === null) {
    console.warn('SKIPPED, steps of clocks: libfaketime is missing (apt-get install faketime)')
    return null
  }
  const dir = await newDirectory('clocks')
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
        // Steps are of the wall clock only, as an administrator or NTP makes them.
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      }
    },
  }
}
