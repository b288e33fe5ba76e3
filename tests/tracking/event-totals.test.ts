/** The totals of the public map, compared with those of the operators' report. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readEventTotals } from '#services/tracking/map/map-snapshots.ts'
import { KG_PER_KM } from '#shared/core/rules/carbon.ts'
import { dropReportsWithoutPoints } from '#shared/pilgrims/report-totals.ts'
import type { Database } from '#shared/stores/db/db.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { PILGRIMS_OF_EVENT } from '#shared/stores/schema/tables.ts'
import { openTestDatabase, type TestDatabase } from '#tests/helpers/database.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { onError } from '#tests/kv/drivers.ts'

describeOnServers('the totals of the followers’ map', () => {
  let database: TestDatabase
  let db: Database
  let kv: Kv
  beforeAll(async () => {
    database = await openTestDatabase()
    db = await openDatabase({ url: database.url, dir: '' })
    kv = await openKv({ url: '', partitions: 1, path: `${await newDirectory('totals')}/kv`, onError })
  })
  afterAll(async () => {
    await kv?.close()
    await db?.close()
    await database?.drop()
  })

  test('are of as many pilgrims as the report, with erased ones and those who only reported', async () => {
    await db.sql`INSERT INTO pilgrim_totals (user_id, points, checkins, distance_mm)
      VALUES ('first', 9, 0, 1000000), ('far', 9, 9, 20000000), ('nowhere', 0, 0, 0)`
    await db.sql`INSERT INTO pilgrims (user_id, consumption, created_at, updated_at)
      VALUES ('first', '{}', now(), now()), ('bottles', '{"water": 2}', now(), now())`
    await db.sql`INSERT INTO erasures (user_hash, generation, erased_at, walked) VALUES ('gone', 1, now(), 1)`
    const [report] = await db.sql<[{ n: number }]>`SELECT ${db.sql.unsafe(PILGRIMS_OF_EVENT)}::int AS n`
    expect(report.n).toBe(4)
    const totals = await readEventTotals({ db, kv, now: Date.now }, 2, false)
    expect(totals).toMatchObject({ pilgrims: 4 })
    // Of an erased pilgrim only the count remains, and a pilgrim who only reported has no level.
    expect(totals!.levels.slice(0, 3)).toEqual([1, 1, 0])
    // The sum of so few pilgrims would reveal one person's figure.
    expect(await readEventTotals({ db, kv, now: Date.now }, 3, false)).toBeNull()
  })

  test('grow by reports at most as far as their pilgrims walked, and one command drops those of others', async () => {
    const savedKg = async () => (await readEventTotals({ db, kv, now: Date.now }, 2, false))!.carbon_saved_kg
    const before = await savedKg()
    await db.sql`INSERT INTO pilgrims (user_id, transport, created_at, updated_at)
      SELECT 'invented-' || n, '{"walk": 5000, "bike": 5000}', now(), now() FROM generate_series(1, 71) n`
    expect(await savedKg()).toBe(before)
    await db.sql`INSERT INTO pilgrims (user_id, transport, created_at, updated_at)
      VALUES ('far', '{"walk": 5000}', now(), now())`
    const most = 20 * KG_PER_KM.bus
    expect(await savedKg()).toBeWithin(before + most - 1, before + most + 1)
    await db.transaction((tx) => dropReportsWithoutPoints(tx))
    expect([...(await db.sql`SELECT user_id FROM pilgrims WHERE transport <> '{}'`)]).toEqual([])
  })
})
