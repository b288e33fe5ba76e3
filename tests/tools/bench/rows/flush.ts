/**
 * The flush: points stored and folded, compared with COPY into a table with the same key, and an insert per
 * point.
 */
import { writeFile, chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { flush } from '#services/scheduler/flush/flush.ts'
import { pack, type Point } from '#shared/points/point.ts'
import type { Database } from '#shared/stores/db/db.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import type { Kv, Submission } from '#shared/stores/kv/kv.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { createLog } from '#shared/runtime/log.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { onError, rules } from '#tests/kv/drivers.ts'
import { point } from '#tests/scheduler/walks.ts'
import type { Contender, Row } from '../measure.ts'
import { closeAll, startDatabase, startStore } from '../measured-processes.ts'

/** Number of pending points per pilgrim; one of them, 5 %, is older than the stored points. */
const PER_PILGRIM = 20
const RETENTION_MS = 259_200_000
const NOON = Date.parse('2026-04-12T04:00:00Z')
const MINUTE_MS = 60_000
/** Submissions in one call of the kv. */
const AT_ONCE = 250
const SINGLE_INSERTS = 5_000

const calendar = createCalendar('Asia/Taipei')
const userOf = (i: number): string => `U${i.toString(16).padStart(32, '0')}`

/** The n-th point of a pilgrim; n = 0 is late, 1 is already stored. */
const pointOf = (i: number, n: number): Point =>
  point({ sentMs: NOON + n * MINUTE_MS + (i % 50_000), lat: 24 + (i % 997) / 1_000 + n * 7e-4, accuracy: 8 })

/** Buffers the points with these numbers, for this many pilgrims. */
export async function buffer(kv: Kv, pilgrims: number, numbers: readonly number[]): Promise<void> {
  for (let from = 0; from < pilgrims; from += AT_ONCE) {
    const submissions = Array.from({ length: Math.min(AT_ONCE, pilgrims - from) }, (_, k): Submission => ({
      id: `${from + k}`,
      userId: userOf(from + k),
      kind: 'sync',
      entries: numbers.map((n) => pack(pointOf(from + k, n))),
      duplicateKey: '',
      recordedMs: 0,
      position: null,
    }))
    await kv.restore(0, submissions, rules({ retentionMs: RETENTION_MS }))
  }
}

export const flushAll = (db: Database, kv: Kv) =>
  flush({
    db,
    kv,
    calendar,
    now: () => NOON,
    log: createLog({}, () => undefined),
    metrics: createMetrics('bench'),
    retentionMs: RETENTION_MS,
    lockMs: 90_000,
    maxAgeMs: 30 * 86_400_000,
    slicePoints: 5_000,
    stopping: new AbortController().signal,
  })

/** Empties all tables that a flush writes. */
async function empty({ sql }: Database): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`
  await sql.unsafe(`TRUNCATE ${tables.map(({ name }) => name).join()}`)
}

function ours(name: string, role: Contender['role'], db: Database, kv: Kv, points: number): Contender {
  const pilgrims = Math.ceil(points / PER_PILGRIM)
  const late = [0, ...Array.from({ length: PER_PILGRIM - 1 }, (_, n) => n + 2)]
  return {
    name,
    role,
    async measure() {
      await empty(db)
      await buffer(kv, pilgrims, [1])
      await flushAll(db, kv)
      await buffer(kv, pilgrims, late)
      await db.sql`CHECKPOINT`
      const started = performance.now()
      const { stored } = await flushAll(db, kv)
      const seconds = (performance.now() - started) / 1_000
      if (stored !== pilgrims * PER_PILGRIM) throw new Error(`${stored} points were stored`)
      return stored / seconds
    },
  }
}

const COLUMNS =
  'user_id, kind, sent_at, recorded_at, received_at, lat, lng, accuracy, in_range, clock_corrected'

const columnsOf = (i: number, n: number): (string | number)[] => {
  const { kind, sentMs, recordedMs, receivedMs, lat, lng, accuracy } = pointOf(i, n)
  const times = [sentMs, recordedMs, receivedMs].map((ms) => new Date(ms).toISOString())
  return [userOf(i), kind, ...times, lat, lng, accuracy ?? '\\N', 't', 'f']
}

/** COPY of a file that the server reads itself, into a table with the same columns and key. */
async function copying(db: Database, points: number): Promise<Contender> {
  // The server reads it as its own user.
  const file = join(
    await newDirectory('copy', process.getuid?.() === 0 ? 'postgres' : undefined),
    'points.tsv',
  )
  const lines: string[] = []
  for (let i = 0; i < points / PER_PILGRIM; i++)
    for (let n = 0; n < PER_PILGRIM; n++) lines.push(columnsOf(i, n).join('\t'))
  await writeFile(file, `${lines.join('\n')}\n`)
  await chmod(file, 0o644)
  await db.sql`CREATE TABLE IF NOT EXISTS copied (LIKE gps_points INCLUDING ALL)`
  return {
    name: 'COPY, stored only',
    role: 'limit',
    async measure() {
      await db.sql`TRUNCATE copied`
      await db.sql`CHECKPOINT`
      const started = performance.now()
      await db.sql.unsafe(`COPY copied (${COLUMNS}) FROM '${file}'`)
      return (lines.length * 1_000) / (performance.now() - started)
    },
  }
}

/** A loop that inserts point by point. */
function inserting(db: Database, points: number): Contender {
  const count = Math.min(SINGLE_INSERTS, points)
  return {
    name: 'an insert a point, one transaction',
    role: 'peer',
    async measure() {
      await db.sql`TRUNCATE copied`
      const started = performance.now()
      await db.transaction(async (tx) => {
        for (let k = 0; k < count; k++) {
          const [user, kind, sent, recorded, received, lat, lng] = columnsOf(
            Math.floor(k / PER_PILGRIM),
            k % PER_PILGRIM,
          )
          await tx.sql`
            INSERT INTO copied (user_id, kind, sent_at, recorded_at, received_at, lat, lng, in_range, clock_corrected)
            VALUES (${user!}, ${kind!}, ${sent!}, ${recorded!}, ${received!}, ${lat!}, ${lng!}, true, false)`
        }
      })
      return (count * 1_000) / (performance.now() - started)
    },
  }
}

const flushRow = (count: number, rounds: number): Row => {
  const shown = count.toLocaleString('en')
  return {
    id: `flush-${count}`,
    title: `flush of ${shown} pending points, 5 % late: stored and folded`,
    unit: 'points/s',
    rounds,
    untested: rounds < 5,
    async open(scale) {
      const points = Math.max(200, Math.round(count * scale.share))
      const [postgres, redis] = await Promise.all([startDatabase(), startStore('always')])
      const db = await openDatabase({ url: postgres.url, dir: '' })
      const kv = await openKv({ url: redis.url, partitions: 1, path: '', onError })
      const tenth = 'the same flush of a tenth'
      const contenders = [
        ours('flush', 'ours', db, kv, points),
        await copying(db, points),
        inserting(db, points),
        ...(count > 100_000 ? [ours(tenth, 'peer', db, kv, points / 10)] : []),
      ]
      return {
        contenders,
        goals: [
          { of: 'COPY, stored only', atLeast: 0.5 },
          // Time per point at most 1.2 times as long.
          ...(count > 100_000 ? [{ of: tenth, atLeast: 1 / 1.2 }] : []),
        ],
        async close() {
          await Promise.all([db.close(), kv.close()])
          await closeAll([postgres, redis])
        },
      }
    },
  }
}

export const flushOfMany = flushRow(100_000, 5)
export const flushOfMost = flushRow(1_000_000, 2)
