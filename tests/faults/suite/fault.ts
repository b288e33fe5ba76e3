/** What a fault is, and what most of them do. */
import type { Arena, Part } from './test-system.ts'
import type { Book } from './recorded-requests.ts'

export type Group = 'kill' | 'freeze' | 'disk' | 'cut' | 'clock' | 'other' | 'pair' | 'loss' | 'cluster'

export interface Fault {
  readonly name: string
  readonly group: Group
  /** One of the few that every run of the tests has. */
  readonly short?: boolean
  /** Whether this machine lets it happen. */
  readonly possible?: (arena: Arena) => boolean
  /** Breaks something; the run goes on with it for a while. */
  strike(arena: Arena, bout: string): Promise<void> | void
  /** What a supervisor, or whoever looks after machines, does about it; the service heals by itself. */
  mend(arena: Arena): Promise<void> | void
  /** Brings back, when all is looked at, what the fault took for good. */
  readonly after?: (arena: Arena, book: Book) => Promise<void>
  /** The store itself loses what it held: then points may be missing, and must be counted as lost. */
  readonly loses?: boolean
  /** Points that it makes the database refuse. */
  readonly deadLetters?: number
}

/** kill -9. */
export const kill = (arena: Arena, parts: readonly Part[]) =>
  Promise.all(parts.map((part) => arena.part(part).stop('SIGKILL')))
export const restart = async (arena: Arena, parts: readonly Part[]): Promise<void> => {
  await Promise.all(parts.map((part) => arena.part(part).restart()))
}
