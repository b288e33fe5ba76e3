/** The last 60 minutes: how many walk, and what was received. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { LastHour, Received } from '#shared/contracts/last-hour.ts'
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
  let counted: { readonly flushMs: number; readonly pilgrims: Promise<number> } | null = null
  const count = (flushMs: number): Promise<number> => {
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
    return flushMs === null ? null : { pilgrims: await count(flushMs), as_of: time(flushMs) }
  }
  return async () => ({
    walking: await within(walking(), READ_MS, () => null).catch((error: unknown) => {
      if (isDatabaseUnavailable(error)) return null
      throw error
    }),
    received: received(),
  })
}

/** Pilgrims whose latest point is of the 60 minutes before a flush, or newer. */
async function countSeen({ db }: ServiceContext, flushMs: number): Promise<number> {
  const [row] = await db.read(
    () => db.sql<[{ pilgrims: number }]>`
      SELECT count(*)::int AS pilgrims FROM pilgrim_totals
      WHERE last_seen > to_timestamp(${flushMs - HOUR_MS}::float8 / 1000)`,
  )
  return row.pilgrims
}
