/** Points that cannot be stored become dead letters with a reason; no other points do. */
import { expect, test } from 'bun:test'
import { pack } from '#shared/points/point.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'
import { describeFlushHarness, NOON, RETENTION_MS } from './flush-harness.ts'
import { expectProjections } from './projections.ts'
import { point, walk } from './walks.ts'

/** Invalid entries of the buffer, with the expected reasons. */
const POISON: readonly (readonly [name: string, field: string, value: string, reason: RegExp])[] = [
  ['no JSON', `t${NOON + 1}`, '[0,1,', /JSON/],
  ['no list', `t${NOON + 2}`, '{"lat":1}', /not a buffered point/],
  ['an identity without a time', 'tomorrow', '[0,1,24,120,1]', /not a buffered point/],
  ['another kind', `x${NOON}`, '[0,1,24,120,1]', /not a buffered point/],
  ['a list that is too short', `t${NOON + 3}`, '[]', /not a buffered point/],
  ['a time beyond all calendars', 't9000000000000000', '[0,1,24,120,1]', /time/],
  ['text where a number belongs', `t${NOON + 4}`, `[0,${NOON},"north",120,1]`, /not a buffered point/],
  ['text for a speed', `t${NOON + 9}`, `[0,${NOON},24,120,1,null,null,"fast"]`, /not a value of its type/],
  ['no latitude', `t${NOON + 5}`, `[0,${NOON},null,120,1]`, /not a buffered point/],
  ['more than a float4 holds', `t${NOON + 6}`, `[0,${NOON},24,120,1,1e308]`, /out of range/],
  [
    'a character that Postgres refuses',
    `t${NOON + 7}`,
    `[0,${NOON},24,120,1,null,null,null,null,"\\u0000"]`,
    /0x00/,
  ],
  ['a time of receipt beyond the table', `t${NOON + 8}`, '[0,1e300,24,120,1]', /out of range/],
]

describeFlushHarness('dead letters', (harness) => {
  test('each is stored once with its reason, and the other points are stored', async () => {
    await harness.buffer('anna', walk(20))
    await harness.bufferEntries(
      'ben',
      POISON.map(([, field, value]) => ({ field, value })),
    )
    await harness.buffer('ben', walk(20, NOON + 3_600_000))
    await harness.buffer('cleo', [point()])
    const result = await harness.flush()
    expect(result).toEqual({
      stored: 41,
      duplicates: 0,
      deadLetters: POISON.length,
      failures: 0,
      skipped: 0,
      erased: 0,
    })
    expect(await harness.pending()).toEqual([])
    const letters = new Map((await harness.deadLetters()).map((letter) => [letter.field, letter]))
    for (const [name, field, value, reason] of POISON)
      expect([name, letters.get(field)]).toEqual([
        name,
        { user_id: 'ben', field, value, reason: expect.stringMatching(reason) as string },
      ])
    await expectProjections(harness.db, harness.calendar)
    // A flush with dead letters succeeds: nothing is pending any longer.
    expect(await harness.kv.cached('last-flush')).toBe(String(harness.nowMs))
  })

  test('a measure too small for its column is stored as zero', async () => {
    const tiny = { accuracy: 5e-324, altitude: -1e-145, speed: 1e-46 }
    await harness.buffer('anna', [point(tiny)])
    expect(await harness.flush()).toMatchObject({ stored: 1, deadLetters: 0 })
    const [row] = await harness.db.sql`SELECT accuracy, altitude, speed FROM gps_points`
    expect(row).toEqual({ accuracy: 0, altitude: 0, speed: 0 })
  })

  test('text that Postgres does not accept is stored with replaced characters', async () => {
    await harness.bufferEntries('anna', [{ field: 't\0', value: 'a\0b' }])
    expect(await harness.flush()).toMatchObject({ deadLetters: 1, failures: 0 })
    expect(await harness.deadLetters()).toMatchObject([{ field: 't\u{fffd}', value: 'a\u{fffd}b' }])
    expect(await harness.pending()).toEqual([])
  })

  test('are not duplicated when a flush dies before the acknowledgement', async () => {
    await harness.bufferEntries('anna', [
      { field: `t${NOON}`, value: 'nonsense' },
      pack(point({ sentMs: NOON + 1 })),
    ])
    const unsettled = { ...harness.kv, acknowledge: async () => undefined }
    expect(await harness.flush({ kv: unsettled })).toMatchObject({ stored: 1, deadLetters: 1 })
    expect(await harness.flush()).toMatchObject({ stored: 0, duplicates: 1, deadLetters: 1 })
    expect(await harness.deadLetters()).toHaveLength(1)
    expect(await harness.pending()).toEqual([])
  })

  test('points stay pending when they are not the cause of the failure', async () => {
    await harness.buffer('anna', walk(5))
    const renewed: unknown[] = []
    const renew: Kv['renew'] = (partition, userIds, retentionMs) => {
      renewed.push([userIds, retentionMs])
      return harness.kv.renew(partition, userIds, retentionMs)
    }
    await harness.db.sql`ALTER TABLE pilgrim_days RENAME TO elsewhere`
    try {
      expect(await harness.flush({ kv: { ...harness.kv, renew } })).toMatchObject({
        stored: 0,
        deadLetters: 0,
        failures: 1,
      })
    } finally {
      await harness.db.sql`ALTER TABLE elsewhere RENAME TO pilgrim_days`
    }
    expect(renewed).toEqual([[['anna'], RETENTION_MS]])
    expect(harness.complaints).toMatchObject([
      { level: 'error', error: expect.stringContaining('pilgrim_days') as string },
    ])
    expect(await harness.pending()).toHaveLength(5)
    expect(await harness.storedPoints()).toBe(0)
    expect(await harness.flush()).toMatchObject({ stored: 5, failures: 0 })
    await expectProjections(harness.db, harness.calendar)
  })
})
