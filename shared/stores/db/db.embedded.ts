/** The embedded database: PGlite in a worker, so that SQL never blocks the thread that answers requests. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import postgres from 'postgres'
import { restrictAllToOwner } from '#shared/runtime/private-files.ts'
import type { ColumnType, Driver, InsertRows } from './db.ts'
import { LoggableError } from '#shared/runtime/log.ts'

/** The start message to the worker. */
export interface WorkerStart {
  readonly dir: string
  readonly socket: string
}

/**
 * Starts PGlite on `dir` and connects to it.
 * @throws LoggableError with the worker's message if the directory cannot be opened
 */
export async function openEmbeddedPostgres(dir: string): Promise<Driver> {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  // A socket path is limited to about 100 characters, so it is not in the data directory.
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
    async stop() {
      const stopped = Promise.withResolvers<void>()
      worker.onmessage = () => stopped.resolve()
      worker.postMessage('stop')
      await stopped.promise
      end()
    },
  }
}

/** Resolves when the worker accepts connections. */
function started(worker: Worker, start: WorkerStart): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<string>) => {
      if (data === 'ready') resolve()
      else reject(new LoggableError(`the embedded database cannot start: ${data}`))
    }
    worker.onerror = (event) => reject(new Error(event.message))
    worker.postMessage(start)
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
