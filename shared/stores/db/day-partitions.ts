/** Day partitions of the table of points, created before their points arrive. */
import type { Database } from './db.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'

const DAY_MS = 86_400_000

/** Returns the name of a day's partition and the statement that creates it. @param day UTC, `2026-04-12` */
export function dayPartition(day: string): { readonly name: string; readonly create: string } {
  const fromMs = Date.parse(`${day}T00:00:00Z`)
  const from = new Date(fromMs).toISOString()
  const to = new Date(fromMs + DAY_MS).toISOString()
  const name = `gps_points_${day.replaceAll('-', '')}`
  return {
    name,
    create: `CREATE TABLE IF NOT EXISTS ${name} PARTITION OF gps_points FOR VALUES FROM ('${from}') TO ('${to}')`,
  }
}

/** Returns the day of a partition; null for any other table name. */
export function dayOfPartition(name: string): string | null {
  const digits = /^gps_points_(\d{4})(\d\d)(\d\d)$/.exec(name)
  return digits === null ? null : digits.slice(1).join('-')
}

/** Phones may be offline for weeks. Older days share the default partition. */
const DAYS_BACK = 31
const DAYS_AHEAD = 7

/** SQLSTATEs of a table that another flush has just created. */
const EXISTS = ['42P07', '23505']
/** SQLSTATE of a default partition that already has points of the day. */
const OCCUPIED = '23514'

/** SQLSTATE of a table that is being read or written, by a backup or an export. */
const LOCKED = '55P03'
/**
 * Creating a partition locks the default one exclusively, and waiting for that lock blocks all later readers. So the
 * wait is short: usually the day begins only in a week.
 */
const LOCK_TIMEOUT = '1s'

/**
 * Creates missing partitions around today. A day whose points arrived first stays in the default partition, and one
 * whose partition cannot be created now is created by a later flush.
 */
export async function ensureDayPartitions(db: Database, nowMs: number, log: Log): Promise<void> {
  const today = Math.floor(nowMs / DAY_MS)
  const rows = await db.read(
    () => db.sql<{ name: string }[]>`
      SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'gps_points'::regclass`,
  )
  const existing = new Set(rows.map(({ name }) => name))
  for (let day = today - DAYS_BACK; day <= today + DAYS_AHEAD; day++) {
    const date = new Date(day * DAY_MS).toISOString().slice(0, 10)
    const { name, create } = dayPartition(date)
    if (existing.has(name)) continue
    try {
      await db.transaction(async (tx) => {
        await tx.sql.unsafe(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`)
        await tx.sql.unsafe(create)
      })
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      if (code === OCCUPIED)
        log.warn('a day stays in the default partition, because its points arrived first', {
          day: date,
          ...errorFields(error),
        })
      else if (code === LOCKED) {
        log.warn('the partition of a day is created later, because the points are being read', { day: date })
        // Each further day would wait as long.
        return
      } else if (!EXISTS.includes(code)) throw error
    }
  }
}
