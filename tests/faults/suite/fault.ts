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
  /** Waits, before the requests begin, for the fault's preconditions. */
  readonly before?: (system: TestSystem) => Promise<unknown>
  /** Minimum duration of `strike`; requests continue meanwhile. */
  readonly strikeMs?: number
  /** Breaks something, for a while. @param prefix of the pilgrims' ids */
  strike(system: TestSystem, prefix: string): Promise<void> | void
  /** Repairs what a supervisor or an administrator repairs; the service itself recovers without help. */
  mend(system: TestSystem): Promise<void> | void
  /** Restores, after all checks, what the fault changed permanently. */
  readonly after?: (system: TestSystem, recorded: RecordedRequests) => Promise<void>
  /**
   * Whether the kv loses data. Points that it admitted without a response then count as lost; their phones
   * send them again.
   */
  readonly loses?: boolean
  /** Text of a 400 that is correct during the fault: the phone keeps the request and repeats it. */
  readonly mayRefuse?: RegExp
  /** Number of points that the database rejects because of it. */
  readonly deadLetters?: number
}

/** kill -9. */
export const kill = (system: TestSystem, parts: readonly Part[]) =>
  Promise.all(parts.map((part) => system.part(part).stop('SIGKILL')))
export const restart = async (system: TestSystem, parts: readonly Part[]): Promise<void> => {
  await Promise.all(parts.map((part) => system.part(part).restart()))
}
