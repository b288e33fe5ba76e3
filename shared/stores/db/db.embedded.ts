/** The embedded database: PGlite in a worker, so that SQL never blocks the thread that answers requests. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import postgres from 'postgres'
import { restrictAllToOwner } from '#shared/runtime/private-files.ts'
import type { ColumnType, Driver, InsertRows } from './db.ts'
import { LoggableError } from '#shared/runtime/log.ts'

/** The start message to the worker. */
export interface WorkerStart {
  readonly dir: string
  readonly socket: string
  readonly temporary: boolean
}

/** A message to the worker: copy the database's files to a new directory, unless that leaves less disk space. */
export interface WorkerCopy {
  readonly to: string
  readonly leaveBytes: number
}

export type WorkerMessage = WorkerStart | WorkerCopy | 'stop'

/**
 * Starts PGlite on `dir` and connects to it.
 * @throws LoggableError with the worker's message if the directory cannot be opened
 */
export async function openEmbeddedPostgres(dir: string, temporary = false): Promise<Driver> {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const copies = `${basename(dir)}.copy-`
  for (const name of readdirSync(dirname(dir)))
    if (name.startsWith(copies)) rmSync(join(dirname(dir), name), { recursive: true, force: true })
  // A socket path is limited to about 100 characters, so it is not in the data directory.
  const socketDir = mkdtempSync(join(tmpdir(), 'event-db-'))
  const socket = join(socketDir, '.s.PGSQL.5432')
  const worker = new Worker(new URL('./embedded-worker.ts', import.meta.url).href)
  const end = () => {
    worker.terminate()
    rmSync(socketDir, { recursive: true, force: true })
  }
  let answered: Promise<unknown> = Promise.resolve()
  /** Sends a message after the answer to the previous one. */
  const ask = (message: WorkerMessage, failure: string): Promise<void> => {
    const answer = answered.then(() => askWorker(worker, message, failure))
    answered = answer.catch(() => undefined)
    return answer
  }
  try {
    await ask({ dir: resolve(dir), socket, temporary }, 'the embedded database cannot start')
  } catch (error) {
    end()
    throw error
  }
  // PGlite ignores the umask and makes the files of a new database readable for everyone.
  restrictAllToOwner(dir)

  const client = postgres({
    path: socket,
    database: 'postgres',
    username: 'postgres',
    // PGlite 0.5 confuses the portals of concurrent connections (measured).
    max: 1,
    onnotice: () => undefined,
  } as postgres.Options<Record<string, never>>)
  return {
    client,
    insertRows: insertArrays,
    async copy(leaveBytes) {
      const to = `${resolve(dir)}.copy-${crypto.randomUUID().slice(0, 8)}`
      await ask({ to, leaveBytes }, 'the embedded database cannot be copied')
      return to
    },
    async stop() {
      await ask('stop', 'the embedded database did not stop').catch(() => undefined)
      end()
    },
  }
}

/** @throws LoggableError with `failure` and the worker's message */
function askWorker(worker: Worker, message: WorkerMessage, failure: string): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<string>) => {
      if (data === '') resolve()
      else reject(new LoggableError(`${failure}: ${data}`))
    }
    worker.onerror = (event) => reject(new Error(event.message))
    worker.postMessage(message)
  })
}

/** The array type that carries a column's values, and the SQL expression that reads them. */
const TRANSPORT: Readonly<Record<ColumnType, readonly [type: string, read: (name: string) => string]>> = {
  text: ['text', (name) => name],
  float8: ['float8', (name) => name],
  float4: ['float4', (name) => name],
  instant: ['float8', (name) => `to_timestamp(${name} / 1000)`],
  // postgres.js mistakes a list of booleans for a single one.
  boolean: ['int', (name) => `${name} = 1`],
}

/** Inserts by array parameters, which every Postgres supports, including PGlite. */
const insertArrays: InsertRows = async (tx, table, columns, items) => {
  const names = columns.map(({ name }) => name).join()
  const arrays = columns.map(({ type }, i) => `$${i + 1}::${TRANSPORT[type][0]}[]`)
  const read = columns.map(({ name, type }) => TRANSPORT[type][1](name))
  await tx.sql.unsafe(
    `INSERT INTO ${table} (${names}) SELECT ${read.join()} FROM unnest(${arrays.join()}) AS given (${names})`,
    columns.map(({ type, of }) => items.map((item) => toTransport(type, of(item)))) as never[],
    { prepare: true },
  )
}

function toTransport(
  type: ColumnType,
  value: string | number | boolean | null,
): string | number | boolean | null {
  if (type === 'boolean') return value === true ? 1 : 0
  // Postgres rejects a number that is too small for a float4 instead of rounding it to 0.
  if (type === 'float4' && typeof value === 'number' && Math.fround(value) === 0) return 0
  return value
}
