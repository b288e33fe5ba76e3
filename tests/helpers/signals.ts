/** Sends signals to processes and their children, and reads their state from /proc. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Timeout for a process to stop; one that waits for a disk stops late. */
const FREEZE_MS = 2_000

/** Signals that a process cannot handle, and that are also sent to its children. */
const REACHES_CHILDREN: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGSTOP', 'SIGCONT']

/** Sends a signal, to the children too if it is one of {@link REACHES_CHILDREN}. */
export function tell(pid: number, signal: NodeJS.Signals): void {
  if (!REACHES_CHILDREN.includes(signal)) return signalOne(pid, signal)
  // Stopped first, so that it cannot start another child meanwhile.
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

/** On a busy machine the other threads of a stopped process run for a few more milliseconds (Linux). */
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
 * Kills every process whose working directory is inside a directory (Linux only). For example, the children of a
 * frozen Postgres outlive an interrupted test.
 */
export function killInside(directory: string): void {
  if (!existsSync('/proc/self/cwd')) return
  for (const name of readdirSync('/proc'))
    if (/^\d+$/.test(name) && workingDirectory(name).startsWith(`${directory}/`))
      signalOne(Number(name), 'SIGKILL')
}

/** Empty without the permission to read it. */
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

/** Whether it has ended. A zombie counts as ended: the first process of some containers never reaps. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return true
  }
  return /\) Z /.test(readOfProcess(pid, 'stat'))
}

/** A file of /proc; empty if the process has just ended or the system has no /proc. */
function readOfProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
