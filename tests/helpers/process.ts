/** A server as a child process: start, stop, freeze, and restart on the same data. */
import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { childrenOf, isGone, tell } from './signals.ts'
import { slower } from './time-limits.ts'
import { TimeoutError, until } from './wait.ts'

/** Timeout of a start, generous because other work may come after the machine was measured. */
const START_MS = 90_000
/** Timeout of an orderly end: Postgres writes a checkpoint, Redis its append-only file. */
const STOP_MS = 20_000

/** `await using` closes it. */
export interface Server extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** Process id; it changes with {@link Server.restart}. */
  readonly pid: number
  /** Contains its data and `server.log`. */
  readonly dir: string
  /**
   * Sends a signal (default: SIGINT) and waits until the process has ended; its data stay.
   * SIGKILL also kills its child processes, like a power cut.
   * @throws Error when the signal does not end it within 20 s; it is then killed
   */
  stop(signal?: NodeJS.Signals): Promise<void>
  /** Starts it again on the same port and data; a running one is stopped first. */
  restart(): Promise<void>
  /** Freezes it and its child processes: connections stay open, without answers. */
  pause(): void
  resume(): void
  /** Stops it and removes its directory. */
  close(): Promise<void>
}

export interface ServerPlan {
  readonly name: string
  readonly command: readonly string[]
  readonly dir: string
  readonly port: number
  readonly url: string
  readonly env?: Readonly<Record<string, string>>
  /** Whether it is ready; called until it returns true. It may throw until then. */
  readonly ready: (pid: number) => boolean | Promise<boolean>
  /** The user to run as when the tests run as root. */
  readonly user?: string
}

/**
 * Starts a server and waits until it is ready.
 * @throws Error with the end of its log when it is not ready within 90 s
 */
export async function startServer(plan: ServerPlan): Promise<Server> {
  const server = new ServerProcess(plan)
  try {
    await server.restart()
  } catch (error) {
    await server.close()
    throw error
  }
  return server
}

/** Creates an empty directory, inside that of the test run if there is one, owned by `user`. */
export async function newDirectory(name: string, user?: string): Promise<string> {
  const dir = await mkdtemp(join(process.env.TEST_DIRECTORY ?? tmpdir(), `${name}-`))
  if (user !== undefined) await runToEnd(['chown', user, dir])
  return dir
}

/**
 * Runs a command to completion, as `user` if given.
 * @throws Error with its output when it fails
 */
export async function runToEnd(command: readonly string[], user?: string): Promise<void> {
  const { code, out, err } = await runCommand([...commandPrefix(user), ...command], { cwd: '/' })
  if (code !== 0) throw new Error(`${command.join(' ')} failed:\n${out}${err}`)
}

/** The repository. */
export const ROOT = join(import.meta.dir, '../..')

/** Runs a command to completion, by default in the repository. @returns its output and exit code */
export async function runCommand(
  command: readonly string[],
  options: {
    readonly cwd?: string
    readonly env?: Record<string, string | undefined>
    /** It gets `killSignal` after this time on a quiet machine (ms). */
    readonly timeout?: number
    readonly killSignal?: NodeJS.Signals
  } = {},
) {
  const child = Bun.spawn([...command], {
    cwd: ROOT,
    ...options,
    ...(options.timeout !== undefined && { timeout: slower(options.timeout) }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, err }
}

/**
 * The prefix of a command that runs as `user`, and that the kernel kills when its parent process ends in any way
 * (Linux; elsewhere only an orderly end leaves no process behind).
 */
function commandPrefix(user?: string): string[] {
  const setpriv = Bun.which('setpriv')
  if (setpriv === null) return []
  const identity = user === undefined ? [] : ['--reuid', user, '--regid', user, '--init-groups']
  return [setpriv, ...identity, '--pdeathsig', 'KILL', '--']
}

class ServerProcess implements Server {
  readonly url: string
  readonly port: number
  readonly dir: string
  readonly #plan: ServerPlan
  #child: Bun.Subprocess | undefined

  constructor(plan: ServerPlan) {
    this.#plan = plan
    this.url = plan.url
    this.port = plan.port
    this.dir = plan.dir
  }

  get pid(): number {
    return this.#running().pid
  }

  async restart(): Promise<void> {
    await this.stop()
    const { name, command, env, ready, user } = this.#plan
    const log = openSync(this.#logPath, 'a')
    const child = Bun.spawn([...commandPrefix(user), ...command], {
      cwd: this.dir,
      env: { ...process.env, ...env },
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    this.#child = child
    const state = await until(
      async () => (hasEnded(child) ? 'ended' : (await ready(child.pid)) && 'ready'),
      `${name} to serve on port ${this.port}`,
      { timeoutMs: START_MS },
    ).catch((error: unknown) => error)
    if (state === 'ready') return
    const Failure = state === 'ended' ? Error : TimeoutError
    throw new Failure(`${name} did not start:\n${this.#logTail()}`, { cause: state })
  }

  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    const child = this.#child
    if (child === undefined || hasEnded(child)) return
    const children = childrenOf(child.pid)
    tell(child.pid, signal)
    if (signal !== 'SIGKILL') tell(child.pid, 'SIGCONT')
    const kill = setTimeout(() => tell(child.pid, 'SIGKILL'), slower(STOP_MS))
    await child.exited
    clearTimeout(kill)
    await until(() => children.every(isGone), `${this.#plan.name}'s children to end`, { timeoutMs: STOP_MS })
    if (child.signalCode === 'SIGKILL' && signal !== 'SIGKILL')
      throw new Error(`${this.#plan.name} ignored ${signal} for ${STOP_MS} ms:\n${this.#logTail()}`)
  }

  pause(): void {
    tell(this.#running().pid, 'SIGSTOP')
  }

  resume(): void {
    tell(this.#running().pid, 'SIGCONT')
  }

  async close(): Promise<void> {
    try {
      await this.stop()
    } finally {
      await rm(this.dir, { recursive: true, force: true })
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Avoids signals to another process: the id of an ended one may be in use again. */
  #running(): Bun.Subprocess {
    if (this.#child === undefined || hasEnded(this.#child))
      throw new Error(`${this.#plan.name} is not running`)
    return this.#child
  }

  get #logPath(): string {
    return join(this.dir, 'server.log')
  }

  #logTail(): string {
    return readFileSync(this.#logPath, 'utf8').split('\n').slice(-20).join('\n')
  }
}

const hasEnded = (child: Bun.Subprocess): boolean => child.exitCode !== null || child.signalCode !== null
