/** The flush, from the buffer to every projection. */
import { expect, test } from 'bun:test'
import { flush } from '#services/scheduler/flush/flush.ts'
import { rebuild } from '#services/scheduler/rebuild.ts'
import { MEASUREMENTS } from '#shared/contracts/gps-points.ts'
import { pack } from '#shared/points/point.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { partitionOf } from '#shared/stores/kv/kv.ts'
import { LoggableError } from '#shared/runtime/log.ts'
import { expectNothingToRebuild, expectProjections } from './projections.ts'
import { describeFlushHarness, describeFlushOnServers, NOON } from './flush-harness.ts'
import { createRandom } from '#tests/helpers/random.ts'
import { jumbled, MEASURED, NOT_MEASURED, point, walk, wander } from './walks.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

describeFlushHarness('flush', (harness) => {
  test('stores pending points, updates the totals, and empties the buffer', async () => {
    await harness.buffer('anna', walk(90))
    await harness.buffer('ben', [point({ kind: 'c', sentMs: NOON + HOUR_MS })])
    expect(await harness.flush()).toEqual({
      stored: 91,
      duplicates: 0,
      deadLetters: 0,
      failures: 0,
      skipped: 0,
      erased: 0,
    })
    expect(await harness.pending()).toEqual([])
    expect(await harness.kv.bufferSize()).toBe(0)
    expect(await harness.storedPoints()).toBe(91)

    const hours = await harness.db.sql`
      SELECT points, checkins, pilgrims, distance_mm::int AS mm FROM event_hours ORDER BY hour`
    const [noon, one] = [60, 30].map((points) => ({ points, checkins: 0, pilgrims: 1, mm: points * 80_000 }))
    expect(hours.map(({ mm, ...row }) => ({ ...row, mm: Math.round(mm / 1_000) * 1_000 }))).toEqual([
      { ...noon!, mm: 59 * 80_000 },
      { ...one!, points: 31, checkins: 1, pilgrims: 2 },
    ])
    const [day] = await harness.db.sql`SELECT day::text, pilgrims FROM event_days`
    expect(day).toEqual({ day: '2026-04-12', pilgrims: 2 })
    const [bits] = await harness.db.sql`SELECT hours FROM pilgrim_days WHERE user_id = 'anna'`
    // Midnight is the first hour of the day.
    expect(bits).toEqual({ hours: (1 << 12) | (1 << 13) })
    await expectProjections(harness.db, harness.calendar)
  })

  test('stores every field of a point', async () => {
    await harness.buffer('anna', [
      point({ kind: 'c', sentMs: NOON + HOUR_MS, recordedMs: NOON, receivedMs: NOON + 1, ...MEASURED }),
      point({ sentMs: NOON + 1, inRange: false }),
    ])
    await harness.flush()
    const stored = await harness.db.sql`
      SELECT user_id, kind, (extract(epoch FROM sent_at) * 1000)::float8 AS sent,
             (extract(epoch FROM recorded_at) * 1000)::float8 AS recorded,
             (extract(epoch FROM received_at) * 1000)::float8 AS received, lat, lng,
             ${harness.db.sql(MEASUREMENTS)}, in_range, clock_corrected
      FROM gps_points ORDER BY kind`
    const place = { user_id: 'anna', lat: 24.15, lng: 120.67 }
    expect([...stored]).toEqual([
      {
        ...place,
        kind: 'c',
        sent: NOON + HOUR_MS,
        recorded: NOON,
        received: NOON + 1,
        ...MEASURED,
        in_range: true,
        clock_corrected: true,
      },
      {
        ...place,
        kind: 't',
        sent: NOON + 1,
        recorded: NOON + 1,
        received: NOON + 1001,
        ...NOT_MEASURED,
        in_range: false,
        clock_corrected: false,
      },
    ])
  })

  test('check-ins without a time that share a millisecond are each stored once', async () => {
    // From several replicas whose journals were replayed one after the other.
    const at = (lat: number, more = {}) => point({ kind: 'c', sentMs: NOON, receivedMs: NOON, lat, ...more })
    const store = async (points: ReturnType<typeof at>[]) => {
      await harness.buffer('anna', points)
      return harness.flush()
    }
    expect(await store([at(24.1)])).toMatchObject({ stored: 1 })
    expect(await store([at(24.2)])).toMatchObject({ stored: 1, duplicates: 0 })
    // Another one is pending at the next instant, and a walk continues meanwhile.
    const next = [at(24.3), at(24.4, { sentMs: NOON + 2, receivedMs: NOON + 2 })]
    expect(await store([...next, ...walk(3)])).toMatchObject({ stored: 5, duplicates: 0 })
    // A flush that died after its commit is repeated.
    expect(await store([at(24.2)])).toMatchObject({ stored: 0, duplicates: 1 })
    expect(await store([at(24.3)])).toMatchObject({ stored: 0, duplicates: 1 })
    // A check-in with its own time duplicates only another one with its own time.
    const timed = { receivedMs: NOON + 9_000 }
    expect(await store([at(24.5, timed)])).toMatchObject({ stored: 1 })
    expect(await store([at(24.5, timed)])).toMatchObject({ stored: 0, duplicates: 1 })
    const rows = await harness.db.sql`
      SELECT lat, (extract(epoch FROM sent_at) * 1000)::float8 - ${NOON}::float8 AS later, clock_corrected
      FROM gps_points WHERE kind = 'c' ORDER BY sent_at`
    expect(rows.map(({ lat, later }) => [lat as number, later as number])).toEqual([
      [24.1, 0],
      [24.2, 1],
      [24.4, 2],
      [24.3, 3],
      [24.5, 4],
    ])
    expect(rows.some(({ clock_corrected }) => clock_corrected)).toBe(false)
    await expectProjections(harness.db, harness.calendar)
  })

  test('points outside the area are stored and not counted', async () => {
    await harness.buffer('anna', walk(10, NOON, { inRange: false }))
    expect(await harness.flush()).toMatchObject({ stored: 10, failures: 0 })
    const [totals] = await harness.db.sql`SELECT points, checkins, last_seen FROM pilgrim_totals`
    expect(totals).toEqual({ points: 0, checkins: 0, last_seen: null })
    expect(await harness.db.sql`SELECT FROM pilgrim_days`).toHaveLength(0)
    expect(await harness.db.sql`SELECT FROM event_hours`).toHaveLength(0)
    // Between counted points they are ignored.
    await harness.buffer('anna', [point({ sentMs: NOON - 1 }), point({ sentMs: NOON + HOUR_MS, lat: 24.16 })])
    await harness.flush()
    await expectProjections(harness.db, harness.calendar)
  })

  test('rough points are counted, and add no distance', async () => {
    // Indoors the phone falls back to a mast: 1.5 km away and back.
    const away = point({ kind: 'c', sentMs: NOON + 90_000, lat: 24.164, accuracy: 1_500 })
    await harness.buffer('anna', [...walk(3), away])
    await harness.buffer('bert', [{ ...away, accuracy: 100 }])
    await harness.flush()
    const read = () =>
      harness.db.sql`SELECT points, checkins, distance_mm / 1000 AS m FROM pilgrim_totals ORDER BY user_id`
    expect(await read()).toMatchObject([
      { points: 4, checkins: 1, m: '160' },
      { points: 1, checkins: 1, m: '0' },
    ])
    // Before and after a rough point, in any flush, the walk starts at the first exact one.
    await harness.buffer('bert', walk(2, NOON - HOUR_MS))
    await harness.flush()
    await harness.buffer('bert', walk(2, NOON + HOUR_MS))
    await harness.flush()
    expect((await read())[1]).toMatchObject({ points: 5, checkins: 1 })
    await expectProjections(harness.db, harness.calendar)
    await expectNothingToRebuild(harness)
  })

  test('exactly 0,0 counts as a check-in, and as no place', async () => {
    const zero = (t: number) => point({ kind: 'c', sentMs: t, lat: 0, lng: 0, accuracy: 8 })
    const read = () =>
      harness.db.sql`
        SELECT user_id AS "userId", points, checkins, distance_mm::float8 / 1000 AS m, last_lat AS lat,
               (extract(epoch FROM last_seen) * 1000)::float8 AS last FROM pilgrim_totals ORDER BY user_id`
    await harness.buffer('anna', [...walk(3), zero(NOON + 150_000)])
    await harness.buffer('bert', [zero(NOON)])
    await harness.flush()
    const [anna] = await read()
    expect(await read()).toMatchObject([
      { userId: 'anna', points: 4, checkins: 1, m: 160 },
      { userId: 'bert', points: 1, checkins: 1, m: 0, lat: null, last: null },
    ])
    expect(anna!.lat).toBeGreaterThan(24)
    expect(anna!.last).toBe(NOON + 120_000)
    await expectProjections(harness.db, harness.calendar)
    // Two days of silence, then a walk: no distance is measured from 0,0.
    await harness.buffer('bert', walk(3, NOON + 48 * HOUR_MS))
    await harness.flush()
    expect((await read())[1]).toMatchObject({ points: 4, checkins: 1, m: 160 })
    // At the instant of a position.
    await harness.buffer('anna', [zero(anna!.last as number)])
    await harness.flush()
    expect((await read())[0]).toMatchObject({ points: 5, lat: anna!.lat })
    await expectProjections(harness.db, harness.calendar)
    await expectNothingToRebuild(harness)
  })

  test('a point that is already stored is a duplicate and leaves the buffer', async () => {
    const points = walk(20)
    await harness.buffer('anna', points.slice(0, 15))
    await harness.flush()
    await harness.buffer('anna', points.slice(10))
    expect(await harness.flush()).toMatchObject({ stored: 5, duplicates: 5 })
    expect(await harness.pending()).toEqual([])
    // The first stored point stays, even if the second differs.
    await harness.buffer('anna', [{ ...points[3]!, lat: 25 }])
    expect(await harness.flush()).toMatchObject({ stored: 0, duplicates: 1 })
    expect(await harness.pending()).toEqual([])
    expect(await harness.db.sql`SELECT FROM gps_points WHERE lat = 25`).toHaveLength(0)
    await expectProjections(harness.db, harness.calendar)
  })

  test('points that arrive during the flush stay for the next one', async () => {
    await harness.buffer('anna', walk(10))
    await harness.buffer('ben', walk(10))
    const { kv } = harness
    const acknowledge: typeof kv.acknowledge = async (partition, slice) => {
      if (slice.some(({ userId }) => userId === 'anna')) await harness.buffer('anna', walk(5, NOON + HOUR_MS))
      await kv.acknowledge(partition, slice)
    }
    expect(await harness.flush({ kv: { ...kv, acknowledge } })).toMatchObject({ stored: 20, failures: 0 })
    expect(await harness.pending()).toEqual(walk(5, NOON + HOUR_MS).map(({ sentMs }) => `anna t${sentMs}`))
    expect(await harness.flush()).toMatchObject({ stored: 5, duplicates: 0 })
    await expectProjections(harness.db, harness.calendar)
  })

  test('a value that changed while it was stored stays in the buffer', async () => {
    await harness.buffer('anna', [point()])
    const { kv } = harness
    const changed = { ...pack(point({ lat: 25 })) }
    const acknowledge: typeof kv.acknowledge = async (partition, stored) => {
      await kv.acknowledge(partition, stored)
      await harness.bufferEntries('anna', [changed])
      await kv.acknowledge(partition, stored)
    }
    await harness.flush({ kv: { ...kv, acknowledge } })
    expect(await kv.peek('anna')).toEqual([changed])
    expect(await harness.flush()).toMatchObject({ stored: 0, duplicates: 1 })
  })

  test('the points of one pilgrim may span slices, and several pilgrims share one', async () => {
    const random = createRandom(7)
    await harness.buffer('anna', wander(random, 230, NOON, 2))
    for (let i = 0; i < 60; i++) await harness.buffer(`pilgrim-${i}`, wander(random, 1 + (i % 9), NOON, 1))
    const sizes: number[] = []
    const { kv } = harness
    const acknowledge: typeof kv.acknowledge = (partition, slice) => {
      sizes.push(slice.reduce((sum, { entries }) => sum + entries.length, 0))
      return kv.acknowledge(partition, slice)
    }
    const before = (await harness.pending()).length
    expect(await harness.flush({ slicePoints: 50, kv: { ...kv, acknowledge } })).toMatchObject({
      stored: before,
      failures: 0,
    })
    expect(Math.max(...sizes)).toBeLessThan(100)
    expect(sizes.length).toBeGreaterThan(before / 100)
    expect(await harness.pending()).toEqual([])
    await expectProjections(harness.db, harness.calendar)
  })

  test('late points change the days they belong to, and those after', async () => {
    const evening = NOON + 11 * HOUR_MS
    const across = walk(180, evening)
    await harness.buffer('anna', [...across.slice(0, 30), ...across.slice(40, 80), ...across.slice(120)])
    await harness.buffer('anna', walk(30, NOON + DAY_MS, { mode: 'car' }))
    await harness.flush()
    await expectProjections(harness.db, harness.calendar)
    const km = async () =>
      (await harness.db.sql`SELECT distance_mm::float8 AS mm FROM pilgrim_totals`)[0]!.mm as number
    const before = await km()
    // A day before all others, the gaps, and a distant position in the first gap.
    await harness.buffer('anna', walk(10, NOON - DAY_MS))
    await harness.buffer('anna', across.slice(80, 120))
    await harness.buffer('anna', [...across.slice(30, 34), { ...across[36]!, lng: 120.69 }])
    expect(await harness.flush()).toMatchObject({ stored: 55, failures: 0 })
    expect(await km()).not.toBe(before)
    await expectProjections(harness.db, harness.calendar)
    await harness.buffer('anna', across.slice(34, 40))
    expect(await harness.flush()).toMatchObject({ stored: 5, duplicates: 1 })
    await expectProjections(harness.db, harness.calendar)
  })

  test('at one instant the check-in is the position, whichever arrived first', async () => {
    const there = { lat: 24.2, lng: 120.7 }
    const here = { lat: 24.3, lng: 120.8 }
    for (const [userId, first, second] of [
      ['anna', 'c', 't'],
      ['ben', 't', 'c'],
    ] as const) {
      await harness.buffer(userId, [point({ kind: first, ...(first === 'c' ? there : here) })])
      await harness.flush()
      await harness.buffer(userId, [point({ kind: second, ...(second === 'c' ? there : here) })])
      await harness.flush()
    }
    const places = await harness.db.sql`SELECT last_lat AS lat, last_lng AS lng FROM pilgrim_totals`
    expect([...places]).toEqual([there, there])
    await expectProjections(harness.db, harness.calendar)
  })

  test('projections do not depend on the order of arrival', async () => {
    const random = createRandom(20_260_412)
    const arrivals = Array.from({ length: 12 }, (_, i) => {
      const points = wander(random, 80, NOON - 3 * DAY_MS, 3)
      return jumbled(random, points, 60).map((point) => ({ userId: `pilgrim-${i}`, point }))
    })
    const all = jumbled(random, arrivals.flat(), 2_000)
    for (let from = 0; from < all.length; from += 160) {
      const batch = Map.groupBy(all.slice(from, from + 160), ({ userId }) => userId)
      for (const [userId, mine] of batch)
        await harness.buffer(
          userId,
          mine.map(({ point }) => point),
        )
      await harness.flush({ slicePoints: 40 })
      await expectProjections(harness.db, harness.calendar)
    }
    expect(await harness.storedPoints()).toBe(12 * 80)
    expect(harness.complaints).toEqual([])
  })
})

describeFlushHarness('a pilgrim whose points can never be stored', (harness) => {
  test('is left pending, counted and logged; everybody else of the slice is stored', async () => {
    const { db } = harness
    await db.sql.unsafe(`
      CREATE FUNCTION refuse_bad() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.user_id = 'm-bad' THEN RAISE EXCEPTION 'no' USING ERRCODE = 'XX001'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER refuses BEFORE INSERT OR UPDATE ON pilgrim_days FOR EACH ROW EXECUTE FUNCTION refuse_bad()`)
    const failures = async (): Promise<string> => {
      const page = await context.metrics.page()
      return /event_flush_failures_total\{[^}]*\} (\d+)/.exec(page)![1]!
    }
    const context = harness.context()
    try {
      await harness.buffer('m-bad', walk(20))
      for (let round = 1; round <= 2; round++) {
        for (const user of ['anna', 'ben', 'wu', 'zoe'])
          await harness.buffer(user, walk(10, NOON + round * HOUR_MS))
        expect(await flush(context)).toMatchObject({ stored: 40, failures: 1, deadLetters: 0, duplicates: 0 })
        expect(await harness.pending()).toHaveLength(20)
        expect(await failures()).toBe(String(round))
      }
      expect(harness.complaints).toHaveLength(2)
      expect(harness.complaints[0]).toMatchObject({ level: 'error', error: expect.stringContaining('XX001') })
      // So that the alert about missing flushes is due.
      const rows = await db.sql`SELECT succeeded FROM flushes WHERE NOT succeeded`
      expect(rows).toHaveLength(2)
    } finally {
      await db.sql.unsafe('DROP TRIGGER refuses ON pilgrim_days; DROP FUNCTION refuse_bad')
    }
    expect(await harness.flush()).toMatchObject({ stored: 20, failures: 0 })
    await expectProjections(db, harness.calendar)
  })
})

describeFlushHarness('damaged changes of cells', (harness) => {
  test('are left, counted and logged; the map shows all others, and a rebuild deletes them', async () => {
    const { db, calendar } = harness
    const of = (...numbers: number[]): Uint8Array => new Uint8Array(new Float64Array(numbers).buffer)
    const damaged = [
      of(NOON, 1, 4).subarray(3),
      of(NOON),
      of(NOON, 2, 4),
      of(NOON, -2),
      of(NOON, NaN),
      of(NaN, 1, 4),
    ]
    damaged.push(of(NOON, 1, 0.5), of(NOON, 1, -4))
    // More than one batch.
    for (let i = 0; i < 80; i++)
      await db.sql`INSERT INTO cell_changes (changes) VALUES (
        decode(${damaged[i % damaged.length]!.toBase64()}, 'base64'))`
    await harness.buffer('anna', walk(5))
    const context = harness.context()
    expect(await flush(context)).toMatchObject({ stored: 5, failures: 0 })
    await expectProjections(db, calendar)
    const left = await db.sql`SELECT FROM cell_changes`
    expect(left).toHaveLength(80)
    expect(await context.metrics.page()).toMatch(
      /event_failed_items_total\{queue="changes of cells",[^}]*\} 80\n/,
    )
    expect(harness.complaints[0]).toMatchObject({ level: 'error', queue: 'changes of cells' })
    const found: string[] = []
    await rebuild(db, calendar, { check: false, tell: (line) => void found.push(line) })
    const afterwards = await db.sql`SELECT FROM cell_changes`
    expect({ found, left: afterwards.length }).toEqual({ found: [], left: 0 })
  })
})

describeFlushOnServers(
  'a partition that cannot be read',
  (harness) => {
    test('holds up no other', async () => {
      const { kv } = harness
      const people = Array.from({ length: 12 }, (_, i) => `user-${i}`)
      for (const user of people) await harness.buffer(user, walk(1))
      const bad = partitionOf(people[0]!, kv.partitions)
      const others = people.filter((user) => partitionOf(user, kv.partitions) !== bad).length
      const drain: typeof kv.drain = (partition, users) =>
        partition === bad ? Promise.reject(new LoggableError('damaged')) : kv.drain(partition, users)
      expect(await harness.flush({ kv: { ...kv, drain } })).toMatchObject({ stored: others, failures: 1 })
      expect(harness.complaints).toMatchObject([{ level: 'error', error: 'damaged' }])
      expect(await harness.flush()).toMatchObject({ stored: people.length - others, failures: 0 })
    })
  },
  4,
)

describeFlushOnServers('a flush whose statements run out of time', (harness) => {
  test('repeats them with half of the points, and ends no partition (long)', async () => {
    const { db, urls } = harness
    // Each point takes 20 ms to insert. Everything else of a flush has to fit in 2 s, also on a busy machine.
    await db.sql.unsafe(`
      CREATE FUNCTION wait_for_points() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_sleep(0.02 * (SELECT count(*) FROM added)); RETURN NULL; END $$;
      CREATE TRIGGER waits AFTER INSERT ON gps_points REFERENCING NEW TABLE AS added
        FOR EACH STATEMENT EXECUTE FUNCTION wait_for_points()`)
    const hurried = await openDatabase({ url: urls.databaseUrl, dir: '', statementMs: 2_000 })
    try {
      await Promise.all(['anna', 'ben', 'cleo', 'dora'].map((user) => harness.buffer(user, walk(40))))
      expect(await harness.flush({ db: hurried })).toMatchObject({ stored: 160, failures: 0, deadLetters: 0 })
      expect(await harness.pending()).toEqual([])
      // A single point that takes too long stays pending, and its neighbours in other slices are stored.
      await db.sql`CREATE OR REPLACE FUNCTION wait_for_points() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_sleep(6) FROM added WHERE user_id = 'slow'; RETURN NULL; END $$`
      await harness.buffer('slow', walk(1, NOON + HOUR_MS))
      await harness.buffer('quick', walk(3, NOON + HOUR_MS))
      const flushed = await harness.flush({ db: hurried, slicePoints: 1 })
      expect(flushed).toMatchObject({ stored: 3, failures: 1, deadLetters: 0 })
      expect(await harness.pending()).toEqual([expect.stringContaining('slow t')])
      expect(harness.complaints.at(-1)).toMatchObject({ level: 'error' })
      // It does not block points of its own slice either.
      await harness.buffer('quick', walk(3, NOON + 2 * HOUR_MS))
      expect(await harness.flush({ db: hurried })).toMatchObject({ stored: 3, failures: 1 })
    } finally {
      await hurried.close()
      await db.sql`DROP TRIGGER waits ON gps_points`
      await db.sql`DROP FUNCTION wait_for_points`
    }
    expect(await harness.flush()).toMatchObject({ stored: 1, failures: 0 })
    await expectProjections(harness.db, harness.calendar)
  })

  test('late points of many pilgrims are folded some pilgrims at a time (long)', async () => {
    const users = Array.from({ length: 60 }, (_, i) => `late-${i}`)
    for (const user of users)
      await harness.buffer(
        user,
        walk(60).filter((_, i) => i !== 30),
      )
    await harness.flush()
    // As if the days had so many points that two of them fill one read.
    await harness.db.sql`UPDATE pilgrim_days SET points = points + 50000`
    for (const user of users) await harness.buffer(user, walk(60).slice(30, 31))
    expect(await harness.flush()).toMatchObject({ stored: 60, failures: 0 })
    await harness.db.sql`UPDATE pilgrim_days SET points = points - 50000`
    await expectProjections(harness.db, harness.calendar)
  })
})
