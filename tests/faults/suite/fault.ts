/** What a fault is, and what most of them do. */
import type { TestSystem, Part } from './test-system.ts'
import type { RecordedRequests } from './recorded-requests.ts'

export type Group = 'kill' | 'freeze' | 'disk' | 'cut' | 'clock' | 'other' | 'pair' | 'loss' | 'cluster'

export interface Fault {
  readonly name: string
  readonly group: Group
  /** One of the few that every run of the tests has. */
  readonly short?: boolean
  /** Whether this machine lets it happen. */
  readonly possible?: (system: TestSystem) => boolean
  /** Breaks something; the run goes on with it for a while. */
  strike(system: TestSystem, bout: string): Promise<void> | void
  /** What a supervisor, or whoever looks after machines, does about it; the service heals by itself. */
  mend(system: TestSystem): Promise<void> | void
  /** Brings back, when all is looked at, what the fault took for good. */
  readonly after?: (system: TestSystem, recorded: RecordedRequests) => Promise<void>
  /** The store itself loses what it held: then points may be missing, and must be counted as lost. */
  readonly loses?: boolean
  /** Points that it makes the database refuse. */
  readonly deadLetters?: number
}

/** kill -9. */
export const kill = (system: TestSystem, parts: readonly Part[]) =>
  Promise.all(parts.map((part) => system.part(part).stop('SIGKILL')))
export const restart = async (system: TestSystem, parts: readonly Part[]): Promise<void> => {
  await Promise.all(parts.map((part) => system.part(part).restart()))
}
