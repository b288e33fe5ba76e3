/** Partitions of the points' table by day, made ahead of the points. */
import { dayPartition } from '#shared/db/day-partition.ts'
import type { Database } from '#shared/db/db.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'

const DAY_MS = 86_400_000
/** Phones come back from dead zones after weeks; days before that share the default partition. */
const DAYS_BACK = 31
const DAYS_AHEAD = 7

/** SQLSTATEs of a table that exists, which another flush has just made. */
const EXISTS = ['42P07', '23505']
/** SQLSTATE of a default partition that holds points of the day already. */
const OCCUPIED = '23514'

/** Makes the partitions around today that are missing. A day whose points came first stays in the default one. */
export async function ensureDayPartitions(db: Database, nowMs: number, log: Log): Promise<void> {
  const today = Math.floor(nowMs / DAY_MS)
  const rows = await db.read(
    () => db.sql<{ name: string }[]>`
      SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'gps_points'::regclass`,
  )
  const there = new Set(rows.map(({ name }) => name))
  for (let day = today - DAYS_BACK; day <= today + DAYS_AHEAD; day++) {
    const date = new Date(day * DAY_MS).toISOString().slice(0, 10)
    const { name, create } = dayPartition(date)
    if (there.has(name)) continue
    try {
      await db.sql.unsafe(create)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      if (code === OCCUPIED)
        log.warn('a day keeps its points in the default partition', {
          day: date,
          ...errorFields(error),
        })
      else if (!EXISTS.includes(code)) throw error
    }
  }
}
