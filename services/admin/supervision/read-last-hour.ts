/** The last 60 minutes: how many walk, and what was received. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { LastHour, Received } from '#shared/contracts/last-hour.ts'
import { SILENT_HOURS } from '#shared/rules/silence.ts'
import { readLastFlush } from '#shared/buffer/last-flush.ts'
import { isDatabaseUnavailable } from '#shared/db/db.ts'
import { within } from '#shared/runtime/deadline.ts'

const HOUR_MS = 3_600_000
/** The longest wait for the database. */
const READ_MS = 1_000

/**
 * Creates the reader. Pilgrims are counted once after each flush, which alone changes their latest points: one pass
 * over one row for each pilgrim, every few minutes, however many operators look.
 */
export function createLastHour(
  context: ServiceContext,
  received: () => Received | null,
): () => Promise<LastHour> {
  const { db, kv } = context
  let counted: { readonly flushMs: number; readonly pilgrims: Promise<Seen> } | null = null
  const count = (flushMs: number): Promise<Seen> => {
    if (counted?.flushMs === flushMs) return counted.pilgrims
    const mine = { flushMs, pilgrims: countSeen(context, flushMs) }
    counted = mine
    mine.pilgrims.catch(() => {
      if (counted === mine) counted = null
    })
    return mine.pilgrims
  }
  const walking = async (): Promise<LastHour['walking']> => {
    const flushMs = await readLastFlush(db, kv)
    return flushMs === null ? null : { ...(await count(flushMs)), as_of: time(flushMs) }
  }
  return async () => ({
    walking: await within(walking(), READ_MS, () => null).catch((error: unknown) => {
      if (isDatabaseUnavailable(error)) return null
      throw error
    }),
    received: received(),
  })
}

type Seen = Omit<NonNullable<LastHour['walking']>, 'as_of'>

/**
 * Pilgrims whose latest point is of the 60 minutes before a flush, or newer, those among them with a check-in, and who
 * was seen that day and not lately. One lookup by the key for each: the points of an hour are too many to be read.
 */
async function countSeen({ db }: ServiceContext, flushMs: number): Promise<Seen> {
  const fromMs = flushMs - HOUR_MS
  const [[seen], [missed]] = await db.read(() =>
    Promise.all([
      db.sql<[Omit<Seen, 'silent'>]>`
        SELECT count(*)::int AS pilgrims, count(c.found)::int AS checked_in
        FROM pilgrim_totals t LEFT JOIN LATERAL (
          SELECT 1 AS found FROM gps_points p
          WHERE p.user_id = t.user_id AND p.kind = 'c' AND p.sent_at > to_timestamp(${fromMs}::float8 / 1000)
            AND p.recorded_at > to_timestamp(${fromMs}::float8 / 1000) LIMIT 1) c ON true
        WHERE t.last_seen > to_timestamp(${fromMs}::float8 / 1000)`,
      db.sql<[Pick<Seen, 'silent'>]>`
        SELECT count(*)::int AS silent FROM pilgrim_totals t JOIN pilgrims p USING (user_id)
        WHERE p.participant_status = 'active'
          AND t.last_seen > to_timestamp(${flushMs - 24 * HOUR_MS}::float8 / 1000)
          AND t.last_seen < to_timestamp(${flushMs - SILENT_HOURS * HOUR_MS}::float8 / 1000)`,
    ]),
  )
  return { ...seen, ...missed }
}
