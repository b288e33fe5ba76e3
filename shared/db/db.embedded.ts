/** The embedded database: PGlite in a worker, so that SQL never stops the thread that answers requests. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import postgres from 'postgres'
import { closeAllToOthers } from '#shared/runtime/private-files.ts'
import type { Driver } from './db.ts'
import { insertArrays } from './insert-rows.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

/** What the worker is told. */
export interface WorkerStart {
  readonly dir: string
  readonly socket: string
}

/**
 * Starts PGlite on `dir` and connects to it.
 * @throws with the worker's message when the directory can not be opened
 */
export async function openEmbeddedPostgres(dir: string): Promise<Driver> {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  // A socket's path is limited to about 100 characters, so it does not stand in the data directory.
  const socketDir = mkdtempSync(join(tmpdir(), 'event-db-'))
  const socket = join(socketDir, '.s.PGSQL.5432')
  const worker = new Worker(new URL('./embedded-worker.ts', import.meta.url).href)
  const end = () => {
    worker.terminate()
    rmSync(socketDir, { recursive: true, force: true })
  }
  try {
    await started(worker, { dir: resolve(dir), socket })
  } catch (error) {
    end()
    throw error
  }
  // PGlite gives the files of a new database to everybody, whatever the umask is.
  closeAllToOthers(dir)

  const client = postgres({
    path: socket,
    database: 'postgres',
    username: 'postgres',
    // More connections mix up each other's portals (measured with PGlite 0.5).
    max: 1,
    onnotice: () => undefined,
  } as postgres.Options<Record<string, never>>)
  return {
    client,
    insertRows: insertArrays,
    async stop() {
      const stopped = Promise.withResolvers<void>()
      worker.onmessage = () => stopped.resolve()
      worker.postMessage('stop')
      await stopped.promise
      end()
    },
  }
}

/** Resolves when the worker serves. */
function started(worker: Worker, start: WorkerStart): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<string>) => {
      if (data === 'ready') resolve()
      else reject(new LoggableError(`the embedded database does not start: ${data}`))
    }
    worker.onerror = (event) => reject(new Error(event.message))
    worker.postMessage(start)
  })
}
