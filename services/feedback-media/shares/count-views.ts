/**
 * Counts how often the pages of links are opened. A view is added in memory and written with all others after some
 * seconds, one statement for a thousand links, so a popular link costs no write per view. A process that is killed
 * loses the views of these seconds. While the database is away, views wait.
 */
import type { ServiceContext } from '#shared/service/context.ts'
import { repeated } from '#shared/stores/repeated-work.ts'

const EVERY_MS = 5_000
/** Links whose views wait at the same time. Ids are not checked before they are written, so strangers can send any. */
const MAX_LINKS = 10_000
const SLICE = 1_000
/** A row that another transaction holds is left out. After so many writes a link without a row has none. */
const MAX_WRITES = 3
const MINUTE_MS = 60_000

interface Waiting {
  views: number
  lastMs: number
  writes: number
}

export type ViewCounter = ReturnType<typeof createViewCounter>

/** Writes views of these links. @returns the ids of those that were written */
async function writeViews(
  { sql }: ServiceContext['db'],
  taken: readonly (Waiting & { readonly id: string })[],
): Promise<ReadonlySet<string>> {
  const ids = taken.map(({ id }) => id)
  // Locks of others are not waited for, so this can be in nobody's way, and no deadlock can arise.
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
      const one = waiting.get(id)!
      if (done.has(id)) Object.assign(one, { views: one.views - views, writes: 0 })
      else one.writes++
      if (one.views === 0 || one.writes >= MAX_WRITES) waiting.delete(id)
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
      const held = waiting.get(id)
      if (held === undefined && waiting.size >= MAX_LINKS) return false
      // A whole minute: the exact moment is the reader's own.
      const lastMs = Math.floor(now() / MINUTE_MS) * MINUTE_MS
      if (held === undefined) waiting.set(id, { views: 1, lastMs, writes: 0 })
      else Object.assign(held, { views: held.views + 1, lastMs })
      return true
    },
    /** Writes what waits. What the database does not take goes on waiting. */
    write: writing.run,
    start: () => writing.start(false),
    async stop(): Promise<void> {
      // A write under way does not hold the views that came since it began.
      await writing.stop()
      await writing.run()
    },
  }
}
