/** Whether a database answers. */
import { rejectWith, within } from '#shared/runtime/deadline.ts'
import { DatabaseTimeout } from './db.ts'

const PROBE_MS = 2_000
/** A request is given up after 25 s: who is busy for longer does not serve any more. */
const BUSY_MS = 25_000

type Ask = () => Promise<unknown>

/** Of a server: each probe asks. @returns what rejects with `DatabaseTimeout` when there is no answer in time */
export const serverProbe = (ask: Ask) => async (): Promise<void> =>
  void (await within(
    ask(),
    PROBE_MS,
    rejectWith(() => new DatabaseTimeout()),
  ))

/**
 * Of a database that answers one after the other: behind a flush or a backup a probe waits, and nothing is wrong.
 * One question is under way at a time; only when it has been waiting for long, the database is silent.
 */
export function queuedProbe(ask: Ask, { waitMs = PROBE_MS, busyMs = BUSY_MS } = {}): () => Promise<void> {
  let asked: { readonly sinceMs: number; readonly answer: Promise<unknown> } | null = null
  return async () => {
    asked ??= {
      sinceMs: performance.now(),
      answer: ask().finally(() => {
        asked = null
      }),
    }
    const { sinceMs, answer } = asked
    await within(answer, waitMs, () => {
      if (performance.now() - sinceMs > busyMs) throw new DatabaseTimeout()
    })
  }
}
