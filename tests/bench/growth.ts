/** Whether a check-in, a flush and a read cost more when there are more pilgrims and more points. */
import { ensureDayPartitions } from '#services/scheduler/day-partitions.ts'
import type { Database } from '#shared/db/db.ts'
import { openDatabase } from '#shared/db/open-database.ts'
import type { Kv } from '#shared/kv/kv.ts'
import { openKv } from '#shared/kv/open-kv.ts'
import { createLog } from '#shared/log.ts'
import { onError } from '#tests/kv/drivers.ts'
import { load } from './load.ts'
import { closeAll, cpuSeconds, startDatabase, startPinned, startStore } from './parts.ts'
import { buffer, flushAll } from './rows/flush.ts'

const FIRST_DAY = Date.parse('2026-04-08T04:00:00Z')
const DAY_MS = 86_400_000
/** Whose points are stored, and whose are flushed. */
const WALKERS = 100_000
const FLUSHED_PILGRIMS = 1_000

const count = (n: number): string => n.toLocaleString('en').padStart(11)

/** Check-ins of so many pilgrims, most of them known already, and what they cost. */
async function checkInsOf(pilgrims: number, seconds: number): Promise<string> {
  const [database, redis] = await Promise.all([startDatabase(), startStore('everysec')])
  const tracking = await startPinned('tracking', { DATABASE_URL: database.url, REDIS_URL: redis.url })
  try {
    const send = (seed: number, forS: number) =>
      load({
        script: 'check-in',
        url: tracking.url,
        args: ['/api/event/checkin', pilgrims, seed],
        seconds: forS,
      })
    for (let sent = 0, seed = 1; sent < pilgrims; seed++) sent += (await send(seed, 5)).requests
    const used = () => [tracking, redis].map(({ pid }) => cpuSeconds(pid))
    const before = used()
    const { requests } = await send(0, seconds)
    const [ours, kv] = used().map((cpu, i) => (((cpu - before[i]!) / requests) * 1e6).toFixed(1))
    return `check-in, ${count(pilgrims)} pilgrims: tracking ${ours} µs of CPU, Redis ${kv} µs`
  } finally {
    await closeAll([tracking, redis, database])
  }
}

/** Stores points number `from` to `to`, a minute apart for each of the walkers. */
async function store({ sql }: Database, from: number, to: number): Promise<void> {
  await sql`
    INSERT INTO gps_points (user_id, kind, sent_at, recorded_at, received_at, lat, lng, in_range, clock_corrected)
    SELECT 'stored-' || n % ${WALKERS}::int, 't', at, at, at, 24 + n % 997 / 1000.0, 120.5, true, false
    FROM (
      SELECT n, to_timestamp(${FIRST_DAY / 1_000}::float8 + (n / ${WALKERS}::int) * 60) AS at
      FROM generate_series(${from}::int, ${to - 1}::int) AS n
    ) AS points`
}

/** Points a second of the second flush of some new pilgrims: the first one makes them. */
async function flushBeside(db: Database, kv: Kv): Promise<number> {
  await db.sql`DELETE FROM gps_points WHERE user_id LIKE 'U%'`
  await db.sql`DELETE FROM pilgrim_days`
  await db.sql`DELETE FROM pilgrim_totals`
  await buffer(kv, FLUSHED_PILGRIMS, [1])
  await flushAll(db, kv)
  await buffer(
    kv,
    FLUSHED_PILGRIMS,
    Array.from({ length: 20 }, (_, n) => n + 2),
  )
  const started = performance.now()
  const { stored } = await flushAll(db, kv)
  return (stored * 1_000) / (performance.now() - started)
}

async function flushesBeside(sizes: readonly number[]): Promise<void> {
  const [database, redis] = await Promise.all([startDatabase(), startStore('everysec')])
  const db = await openDatabase({ url: database.url, dir: '' })
  const kv = await openKv({ url: redis.url, partitions: 1, path: '', onError })
  try {
    for (let day = 0; day < 5; day++)
      await ensureDayPartitions(
        db,
        FIRST_DAY + day * DAY_MS,
        createLog({}, () => undefined),
      )
    let stored = 0
    for (const size of sizes) {
      await store(db, stored, size)
      stored = size
      await db.sql`CHECKPOINT`
      const rates: number[] = []
      for (let i = 0; i < 3; i++) rates.push(await flushBeside(db, kv))
      const best = Math.max(...rates)
      console.log(
        `flush, beside ${count(size)} stored points: ${Math.round(best)} points/s, ${(1e6 / best).toFixed(1)} µs a point`,
      )
    }
  } finally {
    await Promise.all([db.close(), kv.close()])
    await closeAll([redis, database])
  }
}

/** Prints the cost at 10, 100 and 1,000 thousand pilgrims, and from 1 to 20 million points. */
export async function measureGrowth(quick: boolean): Promise<void> {
  const pilgrims = quick ? [1_000, 10_000, 100_000] : [10_000, 100_000, 1_000_000]
  for (const each of pilgrims) console.log(await checkInsOf(each, quick ? 2 : 8))
  await flushesBeside(quick ? [100_000, 1_000_000] : [1_000_000, 5_000_000, 20_000_000])
}
