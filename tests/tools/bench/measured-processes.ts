/** The measured processes, of the service and of its peers, and their CPU and memory by the kernel. */
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

/** Limits that a load generator does not meet; each pilgrim is asked for seldom, as in life. */
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

/** Redis with one of its ways to sync; on the core of the load generator, away from what is measured. */
export async function startStore(appendfsync: 'everysec' | 'always'): Promise<Server> {
  const redis = await startRedis({ args: ['--appendfsync', appendfsync] })
  moveToCore(LOAD_CORE, redis.pid)
  return redis
}

/** A service of the product as a process of its own, on the core of what is measured. */
export async function startPinned(name: ServiceName, env: Environment): Promise<Server> {
  const server = await startService(name, { ...UNLIMITED, ...env })
  moveToCore(SERVED_CORE, server.pid)
  return server
}

/** Another program that serves HTTP on the port that it is given, on the same core. */
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

/** `bare.ts`, answering `what`. */
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
 * CPU seconds of the running threads of a process, in nanoseconds' precision; 0 where the kernel does not count them.
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
 * CPU seconds that a process has used (Linux). The kernel counts a process in ticks of 10 ms, and its running threads
 * precisely. A tick alone would measure nothing in a short load.
 */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return Math.max((Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS, threadSeconds(pid))
}

/**
 * CPU seconds of a process and all its children, including ended ones; 0 for a process that has ended by now, as its
 * parent counts it.
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

/** Processes by their name in the table: their ids, or what tells the CPU seconds of one. */
export type Processes = Readonly<Record<string, number | (() => number)>>

/**
 * Runs a load, and tells what a request of it has cost each process and the load generator, in microseconds of CPU;
 * nothing on a system that does not count it (other than Linux).
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

/** Process id of the run's Postgres, whose children all its others are; 0 where nothing tells it. */
export async function postmaster(databaseUrl: string): Promise<number> {
  if (!existsSync('/proc/self/stat')) return 0
  const sql = postgres(databaseUrl, { max: 1 })
  const [row] = await sql<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`
  const parent = readFileSync(`/proc/${row.pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[1]
  await sql.end()
  return Number(parent)
}

/** Memory of a process in MB, its pages that others share included (Linux). */
export const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_000
