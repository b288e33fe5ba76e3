/** Daily partitions of `gps_points`. */
import { expect, test } from 'bun:test'
import { ensureDayPartitions } from '#shared/stores/db/day-partitions.ts'
import { createLog } from '#shared/runtime/log.ts'
import { expectProjections } from './projections.ts'
import { describeFlushHarness, describeFlushOnServers, NOON, type FlushHarness } from './flush-harness.ts'
import { point, walk } from './walks.ts'

const DAY_MS = 86_400_000
const silent = createLog({}, () => undefined)

const nameOf = (ms: number): string =>
  `gps_points_${new Date(ms).toISOString().slice(0, 10).replaceAll('-', '')}`

/** Points of each non-empty partition. */
async function holdings({ db }: FlushHarness): Promise<Record<string, number>> {
  const rows = await db.sql<{ name: string; n: number }[]>`
    SELECT tableoid::regclass::text AS name, count(*)::int AS n FROM gps_points GROUP BY 1`
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]))
}

const partitions = async ({ db }: FlushHarness): Promise<string[]> =>
  (
    await db.sql<{ name: string }[]>`
      SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'gps_points'::regclass`
  ).map(({ name }) => name)

describeFlushHarness('day partitions', (harness) => {
  test('a flush creates those of the past month and the next week before it needs them', async () => {
    await harness.flush()
    const made = await partitions(harness)
    expect(made).toContain('gps_points_default')
    for (let day = -31; day <= 7; day++) expect(made).toContain(nameOf(NOON + day * DAY_MS))
    expect(await harness.flush()).toMatchObject({ failures: 0 })
    expect(await partitions(harness)).toEqual(made)
  })

  test('points go to the partition of their day, others to the default partition, and all are folded', async () => {
    await harness.buffer('anna', [
      ...walk(3, NOON - 400 * DAY_MS),
      ...walk(4, NOON - 31 * DAY_MS),
      // The last instant of a day, and the first of the next one.
      point({ sentMs: Date.parse('2026-04-11T23:59:59.999Z') }),
      point({ sentMs: Date.parse('2026-04-12T00:00:00.000Z') }),
      ...walk(5),
      // A phone with a clock that is ahead.
      point({ kind: 'c', sentMs: NOON + DAY_MS, recordedMs: NOON + 1 }),
    ])
    await harness.flush()
    const place = await holdings(harness)
    expect(place).toEqual({
      gps_points_default: 3,
      [nameOf(NOON - 31 * DAY_MS)]: 4,
      gps_points_20260411: 1,
      gps_points_20260412: 6,
      gps_points_20260413: 1,
    })
    await expectProjections(harness.db, harness.calendar)
    // A late point in the default partition.
    await harness.buffer('anna', [point({ sentMs: NOON - 400 * DAY_MS + 30_000, lat: 24.1505 })])
    await harness.flush()
    await expectProjections(harness.db, harness.calendar)
  })

  test('a day whose points arrived first stays in the default partition, and other days are not affected', async () => {
    const far = NOON + 300 * DAY_MS
    await harness.buffer('anna', walk(3, far))
    await harness.flush()
    expect(await holdings(harness)).toEqual({ gps_points_default: 3 })
    harness.nowMs = far
    await harness.buffer('anna', [...walk(6, far), ...walk(2, far + DAY_MS)])
    expect(await harness.flush()).toMatchObject({ stored: 5, duplicates: 3, failures: 0 })
    expect(await holdings(harness)).toEqual({ gps_points_default: 6, [nameOf(far + DAY_MS)]: 2 })
    const warnings = harness.complaints.filter(({ message }) => message.includes('default partition'))
    expect(warnings.length).toBeGreaterThan(0)
    expect(await partitions(harness)).not.toContain(nameOf(far))
    await expectProjections(harness.db, harness.calendar)
  })

  test('several flushes create them concurrently', async () => {
    const ahead = NOON + 1_000 * DAY_MS
    await Promise.all(Array.from({ length: 6 }, () => ensureDayPartitions(harness.db, ahead, silent)))
    expect(await partitions(harness)).toContain(nameOf(ahead))
  })
})

describeFlushOnServers('day partitions beside others', (harness) => {
  test('a long reader of points delays the partition of a day that begins later, and neither flushes nor other readers', async () => {
    await harness.flush()
    const held = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const reading = harness.db.transaction(async (tx) => {
      await tx.sql`SELECT count(*) FROM gps_points`
      started.resolve()
      await held.promise
    })
    await started.promise
    harness.nowMs = NOON + DAY_MS
    await harness.buffer('anna', walk(3, NOON + DAY_MS))
    const flushed = harness.flush()
    const other = harness.db.sql`SELECT count(*)::int AS n FROM gps_points`
    expect(await flushed).toMatchObject({ stored: 3, failures: 0 })
    await other
    const later = nameOf(NOON + 8 * DAY_MS)
    expect(await partitions(harness)).not.toContain(later)
    held.resolve()
    await reading
    await harness.flush()
    expect(await partitions(harness)).toContain(later)
  })
})
