/** Health probes of a database. */
import { rejectWith, within } from '#shared/runtime/deadline.ts'
import { DatabaseTimeout } from './db.ts'

const PROBE_MS = 2_000
/** Requests time out after 25 s, so a database that is busy for longer serves nothing. */
const BUSY_MS = 25_000

type RunQuery = () => Promise<unknown>

/** Probe of a server: each call sends a query. The returned function rejects with `DatabaseTimeout` after 2 s. */
export const serverProbe = (query: RunQuery) => async (): Promise<void> =>
  void (await within(
    query(),
    PROBE_MS,
    rejectWith(() => new DatabaseTimeout()),
  ))

/**
 * Probe of a database with one connection, where a query may wait behind a flush or a backup of a healthy database.
 * One query is in flight at a time, and the probe fails only after this query has waited for `busyMs`.
 */
export function queuedProbe(
  query: RunQuery,
  { waitMs = PROBE_MS, busyMs = BUSY_MS } = {},
): () => Promise<void> {
  let inFlight: { readonly sinceMs: number; readonly answer: Promise<unknown> } | null = null
  return async () => {
    inFlight ??= {
      sinceMs: performance.now(),
      answer: query().finally(() => {
        inFlight = null
      }),
    }
    const { sinceMs, answer } = inFlight
    await within(answer, waitMs, () => {
      if (performance.now() - sinceMs > busyMs) throw new DatabaseTimeout()
    })
  }
}
