/** The rebuild finds and corrects every planted fault, and changes nothing else. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { storeAnonymousTotals } from '#services/admin/erasure/erase-rows.ts'
import { rebuild } from '#services/scheduler/rebuild.ts'
import { cellAt } from '#shared/core/map/cells.ts'
import { describeFlushHarness, NOON, type FlushHarness } from './flush-harness.ts'
import { POINTS_A_READ } from '#shared/points/totals/stored-days.ts'
import type { InArea } from '#shared/runtime/config/setting-values.ts'
import { createRandom } from '#tests/helpers/random.ts'
import { jumbled, point, walk, wander } from './walks.ts'

const DAY_MS = 86_400_000

/** Runs a rebuild. @returns the lines that it reports */
async function run(harness: FlushHarness, check: boolean): Promise<string[]> {
  const lines: string[] = []
  const count = await rebuild(harness.db, harness.calendar, { check, tell: (line) => void lines.push(line) })
  expect(count).toBe(lines.length)
  return lines
}

/** Deletes a pilgrim's points as an erasure does. */
async function erase({ db, calendar }: FlushHarness, userId: string, crowd = 2): Promise<void> {
  await db.transaction(async (tx) => {
    await storeAnonymousTotals(tx, userId, calendar, crowd)
    for (const table of ['gps_points', 'pilgrim_totals', 'pilgrim_days', 'pilgrims'])
      await tx.orm.execute(`DELETE FROM ${table} WHERE user_id = '${userId}'`)
  })
}

/** Random walks with late points over several flushes, a walk outside the area, and an erased pilgrim. */
async function fill(harness: FlushHarness, seed: number): Promise<void> {
  const random = createRandom(seed)
  const all = jumbled(
    random,
    Array.from({ length: 6 }, (_, i) =>
      wander(random, 60, NOON - 2 * DAY_MS, 2).map((one) => ({ userId: `pilgrim-${i}`, point: one })),
    ).flat(),
    200,
  )
  for (let from = 0; from < all.length; from += 120) {
    for (const [userId, mine] of Map.groupBy(all.slice(from, from + 120), (one) => one.userId))
      await harness.buffer(
        userId,
        mine.map((one) => one.point),
      )
    await harness.flush({ slicePoints: 40 })
    if (from === 120) await erase(harness, 'pilgrim-5')
  }
  await harness.buffer('outside', walk(5, NOON, { inRange: false }))
  await harness.buffer('at-the-edge', [point({ lat: 90, lng: 180, sentMs: NOON })])
  await harness.flush()
}

const FAULTS: readonly (readonly [projection: string, fault: string])[] = [
  ['pilgrim_totals', `UPDATE pilgrim_totals SET points = points + 1 WHERE user_id = 'pilgrim-0'`],
  ['pilgrim_totals', `UPDATE pilgrim_totals SET last_lat = last_lat + 1e-9 WHERE user_id = 'pilgrim-0'`],
  ['pilgrim_totals', `UPDATE pilgrim_totals SET first_seen = NULL WHERE user_id = 'pilgrim-0'`],
  ['pilgrim_totals', `DELETE FROM pilgrim_totals WHERE user_id = 'pilgrim-1'`],
  ['pilgrim_totals', `INSERT INTO pilgrim_totals (user_id, points) VALUES ('nobody', 3)`],
  ['pilgrim_days', `UPDATE pilgrim_days SET anchor_lng = 0 WHERE user_id = 'pilgrim-2'`],
  ['pilgrim_days', `UPDATE pilgrim_days SET hours = hours # 1 WHERE user_id = 'pilgrim-2'`],
  ['pilgrim_days', `DELETE FROM pilgrim_days WHERE user_id = 'pilgrim-3'`],
  ['event_hours', `UPDATE event_hours SET distance_mm = distance_mm + 1`],
  ['event_hours', `DELETE FROM event_hours WHERE hour = (SELECT min(hour) FROM event_hours)`],
  ['event_hours', `INSERT INTO event_hours VALUES ('2020-01-01T00:00:00Z', 0, 0, 1, 0, 0)`],
  ['event_days', `UPDATE event_days SET pilgrims = pilgrims - 1`],
  ['event_days', `INSERT INTO event_days VALUES ('2020-01-01', 1)`],
  ['event_modes', `UPDATE event_modes SET carbon_mg = carbon_mg + 1 WHERE mode = 'car'`],
  ['cell_tiles', `UPDATE cell_tiles SET points = points + 1 WHERE zoom = 14 AND span = 'all'`],
  ['cell_tiles', `UPDATE cell_tiles SET counts = set_byte(counts, 1, 20) WHERE zoom = 18 AND span = 'hour'`],
  [
    'cell_tiles',
    `UPDATE cell_tiles SET people = set_byte(people, 2, 20) WHERE zoom = 14 AND length(people) > 2`,
  ],
  ['cell_tiles', `UPDATE cell_tiles SET people = NULL WHERE zoom = 14 AND span = 'day'`],
  ['cell_tiles', `DELETE FROM cell_tiles WHERE zoom = 10 AND span = 'day'`],
  ['cell_tiles', `UPDATE cell_tiles SET y = y + 1000 WHERE zoom = 18 AND span = 'all'`],
  ['cell_tiles', `TRUNCATE cell_tiles`],
  ['reported_sums', `INSERT INTO reported_sums VALUES (3, 'water', 5, 0)`],
  ['survey_questions', `INSERT INTO survey_questions VALUES ('q1', 2)`],
]

describeFlushHarness('rebuild', (harness) => {
  test('finds nothing after flushes of late points and an erasure', async () => {
    for (const seed of [1, 2]) {
      await harness.empty()
      await fill(harness, seed)
      expect(await run(harness, true)).toEqual([])
      // The remains of a killed flush do not count as a difference.
      await harness.buffer('pilgrim-0', walk(20, NOON))
      await harness.flush({ stopping: AbortSignal.abort() })
      expect(await run(harness, true)).toEqual([])
    }
  })

  test('of an erased person only cells of zoom 14 and days stay that enough others share', async () => {
    await harness.empty()
    const home = { lat: 24.3, lng: 120.9 }
    for (let i = 0; i < 5; i++) await harness.buffer(`together-${i}`, walk(30))
    await harness.buffer('together-0', [point({ ...home, sentMs: NOON - 3_600_000 })])
    await harness.flush()
    await erase(harness, 'together-0', 5)
    await erase(harness, 'together-1', 5)
    await harness.flush()
    const cells = await harness.db.sql<{ ms: number; x: number; y: number; points: number }[]>`
      SELECT (extract(epoch FROM hour) * 1000)::float8 AS ms, x, y, points FROM erased_cells`
    // Nothing of the second pilgrim stays: only three others remain.
    expect(cells.reduce((sum, { points }) => sum + points, 0)).toBe(30)
    const atHome = cellAt(home.lat, home.lng, 14)
    for (const { ms, x, y } of cells) {
      expect([ms, x & 15, y & 15]).toEqual([harness.calendar.dayStart(NOON), 8, 8])
      expect([x >> 4, y >> 4]).not.toEqual([atHome.x, atHome.y])
    }
    const [tiles] = await harness.db.sql<{ points: number }[]>`
      SELECT sum(points)::float8 AS points FROM cell_tiles WHERE zoom = 18 AND span = 'all'`
    expect(tiles!.points).toBe(30 + 3 * 30)
    expect(await run(harness, true)).toEqual([])
  })

  test('a walk of many pages is erased page by page, and its sums stay', async () => {
    await harness.db.sql`
      INSERT INTO gps_points (user_id, kind, sent_at, recorded_at, received_at, lat, lng, in_range, clock_corrected)
      SELECT 'long', 't', at, at, at, 24 + i / 5000.0, 120.67, true, false
      FROM generate_series(1, ${2.5 * POINTS_A_READ}::int) i,
        LATERAL (SELECT to_timestamp(${NOON / 1_000}::float8) + i * interval '7 seconds' AS at) t`
    await run(harness, false)
    const sums = () => harness.db.sql`
      SELECT sum(points)::int AS points, sum(distance_mm)::float8 AS mm, sum(pilgrims)::int AS pilgrims FROM event_hours`
    const before = await sums()
    expect(before[0]).toMatchObject({ points: 2.5 * POINTS_A_READ })
    await erase(harness, 'long', 1)
    // A row of changes for each page, and one for the latest position.
    expect(await harness.db.sql`SELECT FROM cell_changes`).toHaveLength(4)
    await harness.flush()
    expect(await run(harness, true)).toEqual([])
    expect(await sums()).toEqual(before)
  })

  test('finds and corrects each fault, and a check changes nothing', async () => {
    await fill(harness, 3)
    for (const [projection, fault] of FAULTS) {
      await harness.db.sql.unsafe(fault)
      const found = await run(harness, true)
      expect({ fault, found: found.length > 0 }).toEqual({ fault, found: true })
      expect({ fault, of: new Set(found.map((line) => line.split(' ')[0])) }).toEqual({
        fault,
        of: new Set([projection]),
      })
      expect({ fault, mended: await run(harness, false) }).toEqual({ fault, mended: found })
    }
    expect(await run(harness, true)).toEqual([])
  }, 120_000)

  test('a difference is told with the row, the columns, and both values as people write them', async () => {
    await harness.buffer('anna', walk(3))
    await harness.flush()
    await harness.db.sql`UPDATE pilgrim_totals SET first_seen = NULL, points = 7 WHERE user_id = 'anna'`
    await harness.db.sql`INSERT INTO event_hours VALUES ('2020-01-01T00:00:00Z', 0, 0, 1, 0, 0)`
    const found = await run(harness, false)
    expect(found.toSorted()).toEqual([
      'event_hours 2020-01-01T00:00:00.000Z: not expected',
      `pilgrim_totals anna: points 7 → 3, first_seen null → ${new Date(NOON).toISOString()}`,
    ])
  })

  test('applies the owner’s area to stored points, in both directions', async () => {
    await harness.buffer('anna', walk(60))
    await harness.buffer('bert', walk(5, NOON, { inRange: false }))
    await harness.flush()
    const all = { anna: 4.72, bert: 0.32 }
    const kilometres = async () => {
      const rows = await harness.db.sql<{ user_id: string; km: number }[]>`
        SELECT user_id, (distance_mm / 1e6)::float8 AS km FROM pilgrim_totals`
      return Object.fromEntries(rows.map(({ user_id: user, km }) => [user, Math.round(km * 100) / 100]))
    }
    const apply = async (area: InArea) => {
      await rebuild(harness.db, harness.calendar, { check: false, area, tell: () => undefined })
      return kilometres()
    }
    expect(await apply(() => true)).toEqual(all)
    const south: InArea = (lat) => lat < 24.15 + 1_500 / 111_195
    expect(await apply(south)).toEqual({ ...all, anna: 1.44 })
    expect(await apply(() => true)).toEqual(all)
    expect(await run(harness, true)).toEqual([])
  })

  test('during flushes nothing is lost or duplicated, and no difference is found', async () => {
    await fill(harness, 4)
    const random = createRandom(5)
    const flushing = (async () => {
      for (let i = 0; i < 10; i++) {
        await harness.buffer(`pilgrim-${i % 4}`, wander(random, 30, NOON - DAY_MS, 1))
        expect(await harness.flush({ slicePoints: 10 })).toMatchObject({ failures: 0 })
      }
    })()
    for (let i = 0; i < 4; i++) expect(await run(harness, false)).toEqual([])
    await flushing
    expect(await run(harness, true)).toEqual([])
  })
})

test('the command prints its help, and refuses a directory that is in use', async () => {
  const { lockDataDirectory } = await import('#shared/runtime/data-directory-lock.ts')
  const { newDirectory } = await import('#tests/helpers/process.ts')
  const dir = await newDirectory('rebuild')
  const command = (args: string[]) => {
    const { PATH, HOME } = process.env
    const script = join(import.meta.dir, '../../services/scheduler/rebuild.ts')
    const child = Bun.spawnSync([process.execPath, script, ...args], {
      env: { PATH, HOME, EVENT_DATA_DIR: dir },
    })
    return { code: child.exitCode, said: child.stdout.toString(), complained: child.stderr.toString() }
  }
  expect(command(['--help'])).toMatchObject({ code: 0, said: expect.stringContaining('--check') })
  expect(command(['--chekc'])).toMatchObject({ code: 2, complained: expect.stringContaining('--check') })
  const unlock = lockDataDirectory(dir)
  try {
    expect(command(['--check'])).toMatchObject({
      code: 2,
      complained: expect.stringContaining('stop that one'),
    })
  } finally {
    unlock()
  }
})
