/** The embedded kv's memory and log under one handle. */
import { openChangeLog } from './log.ts'
import { apply, booksOf, type Change, createState, prune, snapshot, type State } from './state.ts'

export interface Store {
  readonly state: State
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Applies a change now; durable with the next commit. @throws KvUnavailable, and nothing is changed */
  readonly change: (change: Change) => void
  /** Resolves when all changes so far are on disk. @throws KvUnavailable */
  readonly committed: () => Promise<void>
  /** Rewrites the log when it has grown long. */
  readonly tidy: () => void
  readonly close: () => void
}

/**
 * Opens the log at `path` and replays it into memory.
 * @param compactAfter turns after which the log is rewritten
 * @param onError told when the log cannot be rewritten just now; it stays as it is, and works
 * @throws when another process has the file open
 */
export function openStore(
  path: string,
  now: () => number,
  compactAfter: number,
  onError: (error: unknown) => void,
): Store {
  const state = createState()
  const log = openChangeLog<Change>(path, (change) => apply(state, change))
  const compact = () => {
    try {
      prune(state, now())
      log.compact(snapshot(state))
    } catch (error) {
      onError(error)
    }
  }
  const change = (change: Change) => {
    log.append(change)
    apply(state, change)
  }
  // A log from before there were books: what it left behind has been put in by somebody.
  const unbooked = -booksOf(state, now()).expired
  if (unbooked > 0) change(['entered', 'before', unbooked, 0, 0, 0])
  if (log.length > 0) compact()
  return {
    state,
    now,
    change,
    committed: () => log.committed(),
    tidy() {
      if (log.length > compactAfter) compact()
    },
    close: () => log.close(),
  }
}
