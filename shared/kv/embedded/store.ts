/** The embedded kv's memory and log under one handle. */
import { KvUnavailable } from '../kv.ts'
import { openChangeLog } from './log.ts'
import { apply, countersOf, type Change, createState, prune, snapshot, type State } from './state.ts'

export interface Store {
  readonly state: State
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Applies a change now; durable with the next commit. @throws KvUnavailable, and nothing is changed */
  readonly change: (change: Change) => void
  /** Resolves when all changes so far are on disk. @throws KvUnavailable */
  readonly committed: () => Promise<void>
  /**
   * Resolves when the log holds nothing but what stands, and the disk nothing of what it held before. Calls of one turn
   * of the event loop share the work.
   * @throws KvUnavailable
   */
  readonly rewritten: () => Promise<void>
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
  const rewrite = () => {
    prune(state, now())
    log.compact(snapshot(state))
  }
  const compact = () => {
    try {
      rewrite()
    } catch (error) {
      onError(error)
    }
  }
  const change = (change: Change) => {
    log.append(change)
    apply(state, change)
  }
  // A log from before there were books: what it left behind has been put in by somebody.
  const unbooked = -countersOf(state, now()).expired
  if (unbooked > 0) change(['entered', 'before', unbooked, 0, 0, 0])
  if (log.length > 0) compact()
  return {
    state,
    now,
    change,
    committed: () => log.committed(),
    rewritten: sharing(rewrite),
    tidy() {
      if (log.length > compactAfter) compact()
    },
    close: () => log.close(),
  }
}

/** Does a piece of work on the log once for all who ask for it in one turn of the event loop. */
function sharing(work: () => void): () => Promise<void> {
  let underWay: Promise<void> | null = null
  return () =>
    (underWay ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        underWay = null
        try {
          work()
          resolve()
        } catch (error) {
          reject(new KvUnavailable('the disk does not take the log of the embedded kv', { cause: error }))
        }
      })
    }))
}
