/** Signals to processes and to their children, and what the kernel tells of them. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Bound for a process to be frozen; one that waits for a disk takes its time. */
const FREEZE_MS = 2_000

/** What the kernel does to a process, not the server itself, is done to its children as well. */
const REACHES_CHILDREN: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGSTOP', 'SIGCONT']

/** Sends a signal; those that nobody can catch reach the children too. */
export function tell(pid: number, signal: NodeJS.Signals): void {
  if (!REACHES_CHILDREN.includes(signal)) return signalOne(pid, signal)
  // Frozen first, so that it cannot start another child while its children are told.
  if (signal === 'SIGKILL') signalOne(pid, 'SIGSTOP')
  const children = childrenOf(pid)
  for (const each of [pid, ...children]) signalOne(each, signal)
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!isGone(pid)) throw error
  }
  if (signal === 'SIGSTOP') awaitFrozen(pid)
}

/** On a busy machine the other threads of a process that is to freeze answer for some more milliseconds (Linux). */
function awaitFrozen(pid: number): void {
  const endsAt = performance.now() + FREEZE_MS
  while (performance.now() < endsAt && /\) [RSD] /.test(threadsOf(pid))) Bun.sleepSync(1)
}

/** The states of all its threads, as text. */
const threadsOf = (pid: number): string =>
  (existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : [])
    .map((thread) => readOfProcess(pid, `task/${thread}/stat`))
    .join('')

/**
 * Kills whatever still works inside a directory (Linux; elsewhere nothing): the children of a Postgres that a test
 * froze, for one, outlive that test when it is interrupted.
 */
export function killInside(directory: string): void {
  if (!existsSync('/proc/self/cwd')) return
  for (const name of readdirSync('/proc'))
    if (/^\d+$/.test(name) && workingDirectory(name).startsWith(`${directory}/`))
      signalOne(Number(name), 'SIGKILL')
}

/** Empty where it is not ours to know. */
function workingDirectory(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ''
  }
}

export function childrenOf(pid: number): number[] {
  const listed = existsSync('/proc/self/stat')
    ? readOfProcess(pid, `task/${pid}/children`)
    : Bun.spawnSync(['pgrep', '-P', `${pid}`]).stdout.toString()
  return listed.split(/\s+/).filter(Boolean).map(Number)
}

/** Gone, or dead and only not yet noticed by its parent: some containers have a first process that never does. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return true
  }
  return /\) Z /.test(readOfProcess(pid, 'stat'))
}

/** A file of /proc, empty where there is none: the process has just ended, or the system has no /proc. */
function readOfProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
