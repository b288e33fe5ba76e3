/** The load generator: wrk, on its own core if there are two. */
import { join } from 'node:path'
import { availableParallelism } from 'node:os'
import { commandPath, type Program } from '#tests/helpers/programs.ts'

export const WRK: Program = { commands: ['wrk'], debian: 'wrk', brew: 'wrk' }

/** The core of the load generator, and the core of the measured process. */
export const LOAD_CORE = 1
export const SERVED_CORE = 0

export interface Load {
  /** The script beside this file that makes the requests. */
  readonly script: keyof typeof CONNECTIONS
  /** http:// or https://, without a path. */
  readonly url: string
  /** Arguments of the script: the path, then its own. */
  readonly args: readonly (string | number)[]
  readonly seconds: number
  readonly connections?: number
}

export interface Loaded {
  readonly requests: number
  readonly seconds: number
  readonly p50_ms: number
  readonly p99_ms: number
  /** CPU of the load generator itself. */
  readonly cpuSeconds: number
}

/** A measurement shorter than this is repeated with more time if there was no response. */
const LONGEST_TRY_S = 16

/** Many phones check in at a time, each on its own connection; tracks and readers use fewer connections. */
const CONNECTIONS = { 'check-in': 256, tracker: 256, sync: 64, read: 64 }

const canPin = Bun.which('taskset') !== null && availableParallelism() > 1

/** The prefix of a command that pins it to a core; empty if that is impossible. */
export const onCore = (core: number): string[] => (canPin ? ['taskset', '-c', `${core}`] : [])

/** Moves a running process, with all its threads, to one core. */
export function moveToCore(core: number, pid: number): void {
  if (canPin) Bun.spawnSync(['taskset', '-a', '-c', '-p', `${core}`, `${pid}`])
}

/**
 * Sends as many requests as a server answers, for some seconds.
 * @throws Error if any request fails, because the figure would be meaningless
 */
export async function load(wanted: Load): Promise<Loaded> {
  const { script, url, args, seconds, connections = seconds < 1 ? 4 : CONNECTIONS[script] } = wanted
  // wrk counts in whole seconds; a shorter run is stopped by a signal.
  const whole = Math.max(1, Math.round(seconds))
  const scripts = join(import.meta.dir, 'load')
  const file = join(scripts, `${script}.lua`)
  const command = [
    commandPath('wrk'),
    '-t1',
    `-c${connections}`,
    `-d${whole}s`,
    '--timeout',
    '30s',
    '-s',
    file,
  ]
  const child = Bun.spawn([...onCore(LOAD_CORE), ...command, url, '--', ...args.map(String)], {
    cwd: scripts,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const stop = seconds < 1 ? setTimeout(() => child.kill('SIGINT'), seconds * 1_000) : undefined
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  clearTimeout(stop)
  const line = out.trimEnd().split('\n').at(-1) ?? ''
  if (!line.startsWith('{')) throw new Error(`wrk gave no figures:\n${out}${err}`)
  const figures = JSON.parse(line) as Omit<Loaded, 'cpuSeconds'> & { readonly failed: number }
  await child.exited
  const { failed, ...counted } = figures
  const loaded = { ...counted, cpuSeconds: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6 }
  // A very short run may be too short on a busy machine.
  if (loaded.requests === 0 && seconds < LONGEST_TRY_S) return load({ ...wanted, seconds: 4 * seconds })
  if (failed > 0 || loaded.requests === 0)
    throw new Error(`${failed} of ${loaded.requests} requests to ${url}${args[0]} failed`)
  return loaded
}
