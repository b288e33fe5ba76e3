/**
 * Counts how often share pages are opened. Views are added in memory and written together after some seconds, one
 * statement for a thousand links, so a popular link costs no write per view. A killed process loses the views of these
 * seconds. While the database is down, views wait.
 */
import type { ServiceContext } from '#shared/service/context.ts'
import { repeated } from '#shared/stores/repeated-work.ts'

const EVERY_MS = 5_000
/**
 * Maximum number of links with waiting views. Ids are not checked before they are written, so strangers can send any.
 */
const MAX_LINKS = 10_000
const SLICE = 1_000
/**
 * Attempts per link. A locked row is skipped and retried; a link still not updated after these is dropped, because it
 * probably has no row.
 */
const MAX_WRITES = 3
const MINUTE_MS = 60_000

interface Waiting {
  views: number
  lastMs: number
  writes: number
}

export type ViewCounter = ReturnType<typeof createViewCounter>

/** Writes views of these links. @returns the ids that were written */
async function writeViews(
  { sql }: ServiceContext['db'],
  taken: readonly (Waiting & { readonly id: string })[],
): Promise<ReadonlySet<string>> {
  const ids = taken.map(({ id }) => id)
  // Locked rows are skipped, so this blocks nothing and cannot deadlock.
  const written = await sql<{ id: string }[]>`
    WITH seen AS (
      SELECT * FROM unnest(${ids}::text[], ${taken.map(({ views }) => views)}::int[],
        ${taken.map(({ lastMs }) => lastMs)}::float8[]) AS seen (id, views, ms)
    ), held AS (
      SELECT id FROM shares WHERE id = ANY(${ids}::text[]) FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE shares SET views = LEAST(shares.views::bigint + seen.views, 2147483647)::int,
      last_viewed_at = GREATEST(last_viewed_at, from_epoch_ms(seen.ms))
    FROM seen JOIN held USING (id) WHERE shares.id = seen.id
    RETURNING shares.id`
  return new Set(written.map(({ id }) => id))
}

export function createViewCounter({ db, log, now }: Pick<ServiceContext, 'db' | 'log' | 'now'>) {
  const waiting = new Map<string, Waiting>()

  const writeSlice = async (ids: readonly string[]): Promise<void> => {
    const taken = ids.map((id) => ({ id, ...waiting.get(id)! }))
    const done = await writeViews(db, taken)
    for (const { id, views } of taken) {
      const waitingViews = waiting.get(id)!
      if (done.has(id)) Object.assign(waitingViews, { views: waitingViews.views - views, writes: 0 })
      else waitingViews.writes++
      if (waitingViews.views === 0 || waitingViews.writes >= MAX_WRITES) waiting.delete(id)
    }
  }
  const writeAll = async (): Promise<void> => {
    const ids = [...waiting.keys()]
    for (let from = 0; from < ids.length; from += SLICE) await writeSlice(ids.slice(from, from + SLICE))
  }
  const writing = repeated(log, 'views of links could not be written', EVERY_MS, writeAll)

  return {
    /** @returns false when too many links wait */
    count(id: string): boolean {
      const known = waiting.get(id)
      if (known === undefined && waiting.size >= MAX_LINKS) return false
      // Rounded to the minute: the exact time belongs to the reader.
      const lastMs = Math.floor(now() / MINUTE_MS) * MINUTE_MS
      if (known === undefined) waiting.set(id, { views: 1, lastMs, writes: 0 })
      else Object.assign(known, { views: known.views + 1, lastMs })
      return true
    },
    /** Writes the waiting views. Those that the database does not accept keep waiting. */
    write: writing.run,
    start: () => writing.start(false),
    async stop(): Promise<void> {
      // A write in progress does not include views that arrived since it began.
      await writing.stop()
      await writing.run()
    },
  }
}
