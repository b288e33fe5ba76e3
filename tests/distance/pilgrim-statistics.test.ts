/** A pilgrim's statistics: stored and pending points, each counted once at every moment. */
import { expect, test } from 'bun:test'
import { type Point, foldPointOf, pack } from '#shared/points/point.ts'
import type { Database, Tx } from '#shared/stores/db/db.ts'
import { readPilgrims, type Statistics } from '#shared/points/totals/pilgrim-statistics.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'
import { recompute } from '#tests/distance/reference-fold.ts'
import { describeFlushHarness, NOON, type FlushHarness } from '#tests/scheduler/flush-harness.ts'
import { createRandom } from '#tests/helpers/random.ts'
import { jumbled, point, walk, wander } from '#tests/scheduler/walks.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** The statistics of the points, computed directly. */
function expected({ calendar }: FlushHarness, points: readonly Point[]): Statistics {
  const counting = points.filter(({ inRange }) => inRange).map(foldPointOf)
  const sums = { points: 0, checkins: 0, distanceMm: 0, carbonMg: 0 }
  for (const day of Object.values(recompute(counting, calendar).days)) {
    sums.points += day.points
    sums.checkins += day.checkins
    sums.distanceMm += day.distanceMm
    sums.carbonMg += day.carbonMg
  }
  const times = counting.map(({ t }) => t)
  const firstMs = times.length > 0 ? Math.min(...times) : null
  const lastMs = times.length > 0 ? Math.max(...times) : null
  return { ...sums, firstMs, lastMs, shownMm: expect.any(Number) as number }
}

/** A database that records its statements. */
function noting(db: Database): { db: Database; statements: string[] } {
  const statements: string[] = []
  const noted = <S extends Tx['sql']>(sql: S): S =>
    new Proxy(sql, {
      apply(target, self, args: readonly unknown[]) {
        const [parts] = args
        if (Array.isArray(parts) && 'raw' in parts) statements.push(parts.join('?'))
        return Reflect.apply(target as unknown as (...args: unknown[]) => unknown, self, args)
      },
    })
  const snapshot: Database['snapshot'] = (read) => db.snapshot((tx) => read({ ...tx, sql: noted(tx.sql) }))
  return { db: { ...db, sql: noted(db.sql), snapshot }, statements }
}

describeFlushHarness('statistics', (harness) => {
  const storesOf = (changes: { db?: Database; kv?: Kv } = {}) => ({
    db: harness.db,
    kv: harness.kv,
    calendar: harness.calendar,
    ...changes,
  })
  const read = async (userId = 'anna', changes: { db?: Database; kv?: Kv } = {}) =>
    (await readPilgrims(storesOf(changes), [userId])).get(userId)?.statistics ?? null

  test('nobody; someone pending; someone stored; someone who was only ever outside', async () => {
    expect(await read()).toBeNull()
    await harness.buffer('anna', walk(30))
    expect(await read()).toEqual(expected(harness, walk(30)))
    await harness.flush()
    expect(await read()).toEqual(expected(harness, walk(30)))
    expect(await read('ben')).toBeNull()
    const outside = walk(3, NOON, { inRange: false })
    await harness.buffer('ben', outside)
    expect(await read('ben')).toEqual(expected(harness, outside))
    await harness.flush()
    expect(await read('ben')).toEqual(expected(harness, outside))
  })

  test('pending points are folded onto what is stored', async () => {
    const points = walk(120)
    await harness.buffer('anna', points.slice(0, 50))
    await harness.flush()
    await harness.buffer('anna', [
      ...points.slice(50),
      point({ kind: 'c', sentMs: NOON + 3 * HOUR_MS, lat: 24.3 }),
    ])
    expect(await read()).toEqual(
      expected(harness, [...points, point({ kind: 'c', sentMs: NOON + 3 * HOUR_MS, lat: 24.3 })]),
    )
  })

  test('no point counts twice between the commit of a flush and its acknowledgement', async () => {
    const points = walk(40)
    await harness.buffer('anna', points)
    await harness.flush({ kv: { ...harness.kv, acknowledge: async () => undefined } })
    expect(await harness.pending()).toHaveLength(40)
    expect(await read()).toEqual(expected(harness, points))
    const more = [...points, ...walk(5, NOON + HOUR_MS, { lng: 120.7 })]
    await harness.buffer('anna', more.slice(40))
    expect(await read()).toEqual(expected(harness, more))
    await harness.flush()
    expect(await read()).toEqual(expected(harness, more))
  })

  test('however many points wait, they are read and folded once as long as none comes or goes', async () => {
    const many = walk(2_500)
    await harness.buffer('anna', many)
    const { kv } = harness
    let entries = 0
    const peekEach: Kv['peekEach'] = async (userIds) => {
      const pending = await kv.peekEach(userIds)
      entries += pending.flat().length
      return pending
    }
    const peek: Kv['peek'] = async (userId) => (await peekEach([userId]))[0]!
    const counting = { kv: { ...kv, peek, peekEach } }
    const reads = await Promise.all(Array.from({ length: 5 }, () => read('anna', counting)))
    for (let i = 0; i < 5; i++) reads.push(await read('anna', counting))
    for (const statistics of reads) expect(statistics).toEqual(expected(harness, many))
    expect(entries).toBe(2_500)
    // New points appear at once, as do flushed points and changes of the pilgrim's own row.
    const more = [...many, ...walk(1, NOON + 2 * DAY_MS)]
    await harness.buffer('anna', more.slice(-1))
    expect(await read('anna', counting)).toEqual(expected(harness, more))
    await harness.db.sql`INSERT INTO pilgrims (user_id, display_name, created_at, updated_at)
      VALUES ('anna', 'Anna', now(), now())`
    expect((await readPilgrims(storesOf(counting), ['anna'])).get('anna')?.row?.displayName).toBe('Anna')
    expect(entries).toBe(2_500 + 2_501)
    await harness.flush()
    expect(await read('anna', counting)).toEqual(expected(harness, more))
    // A few points are read again each time, which is cheaper than caching them.
    await harness.buffer('ben', walk(30))
    await read('ben', counting)
    await read('ben', counting)
    expect(entries).toBe(2_500 + 2_501 + 60)
  })

  test('a flush that commits during a read is seen completely or not at all', async () => {
    const points = [...walk(40), ...walk(40, NOON + DAY_MS)]
    const late = [...walk(20, NOON - DAY_MS), ...walk(20, NOON + DAY_MS - 2 * HOUR_MS)]
    await harness.buffer('anna', points)
    await harness.flush()
    await harness.buffer('anna', late)
    const { kv } = harness
    // Flush everything after the reader has read the buffer.
    const peekEach: Kv['peekEach'] = async (userIds) => {
      const pending = await kv.peekEach(userIds)
      await harness.flush()
      return pending
    }
    expect(await read('anna', { kv: { ...kv, peekEach } })).toEqual(expected(harness, [...points, ...late]))
    expect(await harness.pending()).toEqual([])

    const later = walk(20, NOON - DAY_MS + 30_000, { lng: 120.68 })
    await harness.buffer('anna', later)
    // Flush everything after the reader has read the late points, before it reads their days.
    const db: Database = {
      ...harness.db,
      async read(ask) {
        const answer = await harness.db.read(ask)
        await harness.flush()
        return answer
      },
    }
    expect(await read('anna', { db })).toEqual(expected(harness, [...points, ...late, ...later]))
  })

  test('for late pending points only the days are read that they change', async () => {
    const days = [-4, -3, -2, -1, 0].map((day) => walk(30, NOON + day * DAY_MS))
    await harness.buffer('anna', days.flat())
    await harness.flush()
    const late = walk(3, NOON - 3 * DAY_MS + 5 * 60_000 + 7_000, { lng: 120.671 })
    await harness.buffer('anna', late)
    const { db, statements } = noting(harness.db)
    expect(await read('anna', { db })).toEqual(expected(harness, [...days.flat(), ...late]))
    // The day ends as before, so no later day has to be read.
    const readDays = () => statements.filter((text) => text.includes('FROM gps_points g')).length
    expect(readDays()).toBe(1)
    // A repeated read gives the same result without reading the day, until a point is added.
    expect(await read('anna', { db })).toEqual(expected(harness, [...days.flat(), ...late]))
    expect(readDays()).toBe(1)
    const later = walk(2, NOON - 2 * DAY_MS + 5 * 60_000 + 7_000, { lng: 120.671 })
    await harness.buffer('anna', later)
    const all = expected(harness, [...days.flat(), ...late, ...later])
    expect(await read('anna', { db })).toEqual(all)
    expect(readDays()).toBe(3)
    await harness.flush()
    expect(await read('anna', { db })).toEqual(all)
  })

  test('a late point before the first of the last day starts where the day before ended', async () => {
    const points = [...walk(10, NOON - DAY_MS), ...walk(10, NOON, { lng: 120.69 })]
    await harness.buffer('anna', points)
    await harness.flush()
    const early = point({ sentMs: NOON - 2 * HOUR_MS, lng: 120.68 })
    await harness.buffer('anna', [early])
    expect(await read()).toEqual(expected(harness, [...points, early]))
  })

  test('a late point on a day that has a point at its first instant', async () => {
    const midnight = NOON - 12 * HOUR_MS
    const points = walk(10, midnight)
    await harness.buffer('anna', points)
    await harness.flush()
    const late = walk(2, midnight + 5 * 60_000 + 7_000, { lng: 120.671 })
    await harness.buffer('anna', late)
    expect(await read()).toEqual(expected(harness, [...points, ...late]))
  })

  test('a bounded number of statements, whatever the number of points', async () => {
    const counts: number[] = []
    for (const size of [1, 10, 2_000]) {
      const userId = `pilgrim-${size}`
      await harness.buffer(userId, walk(size))
      await harness.flush()
      await harness.buffer(userId, walk(size, NOON + 40 * HOUR_MS))
      const { db, statements } = noting(harness.db)
      await read(userId, { db })
      counts.push(statements.length)
    }
    // Two statements: the day, and the part cached for itself. With many pending points the pilgrim's row
    // is read as well.
    expect(counts).toEqual([2, 2, 4])
  })

  test('of many at once each has their own: said, stored, pending, late or nothing at all', async () => {
    const stored = walk(30)
    await harness.buffer('stored', stored)
    await harness.buffer('both', stored.slice(0, 20))
    await harness.buffer('late', stored.slice(10))
    await harness.buffer('unsettled', stored)
    await harness.flush({ kv: { ...harness.kv, acknowledge: async () => undefined } })
    for (const userId of ['stored', 'both', 'late'])
      await harness.kv.acknowledge(0, await harness.kv.drain(0, [userId]))
    await harness.buffer('both', stored.slice(20))
    await harness.buffer('late', stored.slice(0, 10))
    await harness.buffer('pending', stored)
    await harness.db.sql`
      INSERT INTO pilgrims (user_id, display_name, phone, created_at, updated_at) VALUES ('said', '名', '0912345678', now(), now())`
    const userIds = ['late', 'nobody', 'both', 'said', 'pending', 'unsettled', 'stored']
    const { db, statements } = noting(harness.db)
    const found = await readPilgrims({ db, kv: harness.kv, calendar: harness.calendar }, userIds)
    expect([...found.keys()].sort()).toEqual(['both', 'late', 'pending', 'said', 'stored', 'unsettled'])
    for (const userId of ['late', 'both', 'pending', 'unsettled', 'stored'])
      expect({ userId, ...found.get(userId)!.statistics }).toEqual({ userId, ...expected(harness, stored) })
    expect(found.get('said')).toMatchObject({
      row: { displayName: '名', phone: '0912345678' },
      statistics: null,
      storedPoints: 0,
    })
    expect(found.get('pending')).toMatchObject({ row: null, storedPoints: 0 })
    expect(found.get('both')).toMatchObject({ row: { displayName: null, photoCount: 0 }, storedPoints: 20 })
    // One statement for all pilgrims; late points add one to find and one to read them.
    expect(
      statements.filter((text) => text.includes('FROM unnest') && text.includes('pilgrim_totals')),
    ).toHaveLength(2)
  })

  test('an invalid entry is ignored', async () => {
    const points = walk(10)
    await harness.bufferEntries('anna', [{ field: `t${NOON - 1}`, value: '[0,' }, ...points.map(pack)])
    await harness.bufferEntries('ben', [{ field: 'nonsense', value: 'nonsense' }])
    expect(await read()).toEqual(expected(harness, points))
    expect(await read('ben')).toBeNull()
  })

  test('at any moment, whatever the order of arrival, they are what the points come to', async () => {
    const random = createRandom(412)
    for (let i = 0; i < 4; i++) {
      const userId = `pilgrim-${i}`
      const arrivals = jumbled(random, wander(random, 120, NOON - 3 * DAY_MS, 3), 100)
      for (let n = 0; n < arrivals.length; n += 12) {
        await harness.buffer(userId, arrivals.slice(n, n + 12))
        expect(await read(userId)).toEqual(expected(harness, arrivals.slice(0, n + 12)))
        const settled = random() < 0.5
        if (random() < 0.6)
          await harness.flush(settled ? {} : { kv: { ...harness.kv, acknowledge: async () => undefined } })
        expect(await read(userId)).toEqual(expected(harness, arrivals.slice(0, n + 12)))
      }
    }
  })
})
