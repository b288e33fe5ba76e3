/** The measured processes of the service and its peers, with CPU and memory from the kernel. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import type { Environment } from '#shared/runtime/config/config.ts'
import type { ServiceName } from '#shared/contracts/endpoint.ts'
import { openTestDatabase } from '#tests/helpers/database.ts'
import { newDirectory, type Server, startServer } from '#tests/helpers/process.ts'
import { freePort, startRedis } from '#tests/helpers/servers.ts'
import { startService } from '#tests/helpers/test-stack-real.ts'
import { LOAD_CORE, type Loaded, moveToCore, SERVED_CORE } from './load.ts'
import { type Cpu, GENERATOR } from './measure.ts'

/** Rate limits out of the load generator's reach; each pilgrim sends rarely, as in reality. */
export const UNLIMITED: Environment = {
  EVENT_LIMIT_CHECKIN: '1000000',
  EVENT_LIMIT_SYNC: '1000000',
  EVENT_LIMIT_ADDRESS: '1000000000',
  EVENT_LIMIT_ADMIN: '1000000',
  EVENT_PENDING_MAX: '10000000',
  // A flush during another measurement would distort it.
  EVENT_FLUSH_SECONDS: '86400',
}

export interface Opened extends AsyncDisposable {
  readonly url: string
}

/** A database with this release's schema, on the run's Postgres. */
export async function startDatabase(): Promise<Opened> {
  const { url, drop } = await openTestDatabase()
  return { url, [Symbol.asyncDispose]: drop }
}

/** Redis with a sync mode, on the load generator's core, away from the measured process. */
export async function startStore(appendfsync: 'everysec' | 'always'): Promise<Server> {
  const redis = await startRedis({ args: ['--appendfsync', appendfsync] })
  moveToCore(LOAD_CORE, redis.pid)
  return redis
}

/** A service of the product in its own process, on the measured core. */
export async function startPinned(name: ServiceName, env: Environment): Promise<Server> {
  const server = await startService(name, { ...UNLIMITED, ...env })
  moveToCore(SERVED_CORE, server.pid)
  return server
}

/** Another HTTP server on the given port, on the same core. */
export async function startPeer(
  name: string,
  command: (port: number) => readonly string[],
  env: Record<string, string> = {},
): Promise<Server> {
  const port = freePort()
  const url = `http://127.0.0.1:${port}`
  const server = await startServer({
    name,
    command: command(port),
    dir: await newDirectory(name),
    port,
    url,
    env,
    ready: async () => (await fetch(url)).status > 0,
  })
  moveToCore(SERVED_CORE, server.pid)
  return server
}

/** `bare.ts`, serving `what`. */
export const startBare = (...what: readonly string[]): Promise<Server> =>
  startPeer('bare', (port) => [process.execPath, join(import.meta.dir, 'peers/bare.ts'), `${port}`, ...what])

/** Closes all of them, then throws the first error. */
export async function closeAll(servers: readonly AsyncDisposable[]): Promise<void> {
  const ends = await Promise.allSettled(servers.map((server) => server[Symbol.asyncDispose]()))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

const CLOCK_TICKS = 100

const isGone = (error: unknown): boolean =>
  ['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')

/**
 * CPU seconds of a process's running threads, with nanosecond precision; 0 if the kernel does not count them.
 */
function threadSeconds(pid: number): number {
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${pid}/task`))
    try {
      nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
    } catch (error) {
      if (!isGone(error)) throw error
    }
  return nanoseconds / 1e9
}

/**
 * CPU seconds used by a process (Linux). The kernel counts a process in ticks of 10 ms, and its running
 * threads precisely. Ticks alone would measure nothing in a short load.
 */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return Math.max((Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS, threadSeconds(pid))
}

/**
 * CPU seconds of a process and all its children, including ended ones; 0 for a process that has ended, which
 * its parent counts.
 */
export function treeCpuSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
    const ended = (Number(fields[13]) + Number(fields[14])) / CLOCK_TICKS
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
    return children.reduce((sum, child) => sum + treeCpuSeconds(Number(child)), cpuSeconds(pid) + ended)
  } catch (error) {
    if (isGone(error)) return 0
    throw error
  }
}

/** Processes by their name in the table: a process id, or a function that returns CPU seconds. */
export type Processes = Readonly<Record<string, number | (() => number)>>

/**
 * Runs a load. Returns the CPU microseconds per request of each process and of the load generator; nothing on
 * systems other than Linux, which do not count it.
 */
export async function withCpu<L extends Pick<Loaded, 'requests'> & Partial<Pick<Loaded, 'cpuSeconds'>>>(
  processes: Processes,
  run: () => Promise<L>,
): Promise<{ readonly loaded: L; readonly cpu: Cpu }> {
  const used = () =>
    Object.entries(processes).map(
      ([name, one]) => [name, typeof one === 'number' ? treeCpuSeconds(one) : one()] as const,
    )
  if (!existsSync('/proc/self/stat')) return { loaded: await run(), cpu: {} }
  const before = new Map(used())
  const loaded = await run()
  const seconds = used().map(([name, after]) => [name, after - before.get(name)!] as const)
  const each =
    loaded.cpuSeconds === undefined ? seconds : [...seconds, [GENERATOR, loaded.cpuSeconds] as const]
  return { loaded, cpu: Object.fromEntries(each.map(([name, s]) => [name, (1e6 * s) / loaded.requests])) }
}

/** Process id of the run's Postgres, the parent of all its others; 0 if unknown. */
export async function postmaster(databaseUrl: string): Promise<number> {
  if (!existsSync('/proc/self/stat')) return 0
  const sql = postgres(databaseUrl, { max: 1 })
  const [row] = await sql<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`
  const parent = readFileSync(`/proc/${row.pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[1]
  await sql.end()
  return Number(parent)
}

/** Memory of a process in MB, including shared pages (Linux). */
export const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_000
