/** The interface of a fault, and actions that many faults share. */
import type { TestSystem, Part } from './test-system.ts'
import type { RecordedRequests } from './recorded-requests.ts'

export type Group = 'kill' | 'freeze' | 'disk' | 'cut' | 'clock' | 'other' | 'pair' | 'loss' | 'cluster'

export interface Fault {
  readonly name: string
  readonly group: Group
  /** Whether it is part of every `bun run test:all`. */
  readonly short?: boolean
  /** Whether it is possible on this machine. */
  readonly possible?: (system: TestSystem) => boolean
  /** Waits, before the requests begin, for what the fault needs. */
  readonly before?: (system: TestSystem) => Promise<unknown>
  /** How long `strike` takes at least; the requests go on meanwhile. */
  readonly strikeMs?: number
  /** Breaks something, for a while. @param prefix of the pilgrims' ids */
  strike(system: TestSystem, prefix: string): Promise<void> | void
  /** Repairs what a supervisor or an administrator repairs; the service itself recovers without help. */
  mend(system: TestSystem): Promise<void> | void
  /** Restores, after all checks, what the fault removed permanently. */
  readonly after?: (system: TestSystem, recorded: RecordedRequests) => Promise<void>
  /** Whether the kv loses data. What it had admitted without an answer counts as lost; its phone sends it again. */
  readonly loses?: boolean
  /** Text of an answer 400 that is right while it lasts: the phone keeps what it asked, and asks again. */
  readonly mayRefuse?: RegExp
  /** Points that the database refuses because of it. */
  readonly deadLetters?: number
}

/** kill -9. */
export const kill = (system: TestSystem, parts: readonly Part[]) =>
  Promise.all(parts.map((part) => system.part(part).stop('SIGKILL')))
export const restart = async (system: TestSystem, parts: readonly Part[]): Promise<void> => {
  await Promise.all(parts.map((part) => system.part(part).restart()))
}
