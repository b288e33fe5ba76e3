/** The embedded kv's state in memory, and its log. */
import { KvUnavailable } from '../kv.ts'
import { openChangeLog } from './log.ts'
import { apply, countersOf, type Change, createState, prune, snapshot, type State } from './state.ts'

export interface Store {
  readonly state: State
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Applies a change immediately; it is durable after the next commit. @throws KvUnavailable; then nothing changes */
  readonly change: (change: Change) => void
  /** Resolves when all changes so far are on disk. @throws KvUnavailable */
  readonly committed: () => Promise<void>
  /**
   * Resolves when the log holds the current state only, and nothing older is on disk. Calls of one turn of the event
   * loop share the work.
   * @throws KvUnavailable
   */
  readonly rewritten: () => Promise<void>
  /** Rewrites the log when it has grown long. */
  readonly tidy: () => void
  readonly close: () => void
}

/**
 * Opens the log at `path` and replays it into memory.
 * @param compactAfter batches of changes after which the log is rewritten
 * @param onError called when the log could not be rewritten; the old log stays in use
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
  // A log of a release without counters: its pending points are counted as accepted before counting began.
  const uncounted = -countersOf(state, now()).expired
  if (uncounted > 0) change(['entered', 'before', uncounted, 0, 0, 0])
  if (log.length > 0) compact()
  return {
    state,
    now,
    change,
    committed: () => log.committed(),
    rewritten: sharedRun(rewrite),
    tidy() {
      if (log.length > compactAfter) compact()
    },
    close: () => log.close(),
  }
}

/** Runs work on the log once for all calls of one turn of the event loop. */
function sharedRun(work: () => void): () => Promise<void> {
  let underWay: Promise<void> | null = null
  return () =>
    (underWay ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        underWay = null
        try {
          work()
          resolve()
        } catch (error) {
          reject(
            new KvUnavailable('the log of the embedded kv could not be written to disk', { cause: error }),
          )
        }
      })
    }))
}
