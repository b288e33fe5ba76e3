/** The embedded run as a child process, on a free port and a new data directory. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '#shared/runtime/config/config.ts'
import { copyMigratedDatabase } from './migrated-database.ts'
import { slower } from './time-limits.ts'
import { TimeoutError } from './wait.ts'

export interface Embedded {
  readonly url: string
  readonly caFile: string
  readonly dataDir: string
  readonly pid: number
  /** Its output since it started listening. */
  log(): string
  /** Ends the process and waits for it; SIGTERM by default. The data directory stays until `remove`. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  /** `fetch` of a path, trusting the run's own certificate. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  remove(): void
}

const ROOT = join(import.meta.dir, '../..')
const STARTS_WITHIN_MS = 90_000

/** As {@link startEmbedded}, in a new data directory with a migrated database, which starts several times faster. */
export async function startMigratedEmbedded(overrides: Environment = {}): Promise<Embedded> {
  const dataDir = mkdtempSync(join(tmpdir(), 'event-embedded-'))
  await copyMigratedDatabase(dataDir)
  return startEmbedded({ ...overrides, EVENT_DATA_DIR: dataDir })
}

/**
 * Starts `bun proxy/local.ts`; the settings override the defaults of a test run.
 * @param root the checkout to run; default: this one
 */
export async function startEmbedded(overrides: Environment = {}, root = ROOT): Promise<Embedded> {
  const dataDir = overrides.EVENT_DATA_DIR ?? mkdtempSync(join(tmpdir(), 'event-embedded-'))
  const child = Bun.spawn([process.execPath, 'proxy/local.ts'], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: process.env.TMPDIR,
      EVENT_PORT: '0',
      // A run of more than ten minutes would take one.
      EVENT_BACKUP_HOURS: '0',
      ...overrides,
      EVENT_DATA_DIR: dataDir,
    },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const { url, log } = await readUrl(child.stdout)
  const caFile = join(dataDir, 'tls/cert.pem')
  const ca = readFileSync(caFile, 'utf8')
  return {
    url,
    caFile,
    dataDir,
    pid: child.pid,
    log,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      await child.exited
      return child.exitCode
    },
    fetch: (path, init) => fetch(`${url}${path}`, { ...init, tls: { ca } }),
    remove: () => rmSync(dataDir, { recursive: true, force: true }),
  }
}

/** Reads the output until the address is printed, then continues in the background. */
async function readUrl(output: ReadableStream<Uint8Array>): Promise<{ url: string; log: () => string }> {
  const reader = output.getReader()
  const decoder = new TextDecoder()
  let seen = ''
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    void reader.cancel()
  }, slower(STARTS_WITHIN_MS))
  for (;;) {
    const { done, value } = await reader.read()
    if (done) throw new (isLate ? TimeoutError : Error)(`the embedded run did not start:\n${seen}`)
    seen += decoder.decode(value, { stream: true })
    const url = /listens on (https:\S+)/.exec(seen)?.[1]
    if (url === undefined) continue
    clearTimeout(timer)
    const log: string[] = []
    void (async () => {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return
        log.push(decoder.decode(value, { stream: true }))
      }
    })()
    return { url, log: () => log.join('') }
  }
}
