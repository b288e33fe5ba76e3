/**
 * A Redis that comes back without its data, or without its last writes: the ledger shows exactly the missing points.
 */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { cpSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { flush, type FlushContext } from '#services/scheduler/flush/flush.ts'
import { publishStatus } from '#shared/pilgrims/kv-copies.ts'
import { openJournal } from '#shared/points/journal/journal.ts'
import type { Database } from '#shared/stores/db/db.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { createLossWatch, type Ledger, readLedger } from '#shared/points/ledger/ledger.ts'
import { openProcessCounters, type ProcessCounters } from '#shared/points/ledger/counters.ts'
import { createLog } from '#shared/runtime/log.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { openTestDatabase, type TestDatabase } from '#tests/helpers/database.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { type Server, startRedis } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { admit, sync } from '#tests/kv/drivers.ts'

const log = createLog({}, () => undefined)
const NOW = Date.parse('2026-04-12T04:00:00Z')
const times = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => NOW + (from + i) * 60_000)

describeOnServers('points that the store has lost', () => {
  let redis: Server
  let database: TestDatabase
  let db: Database
  let dir = ''
  const opened: { kv: Kv; counters: ProcessCounters }[] = []

  /** A replica, reduced to what the ledger sees of it. */
  const openReplica = async (journalPath: string | null = null) => {
    const kv = await openKv({ url: redis.url, partitions: 2, path: '', onError: () => undefined })
    const counters = openProcessCounters({ kv, db, log, journalPath, journaled: () => 0 })
    const replica = { kv, counters }
    opened.push(replica)
    return replica
  }
  const flushAll = (kv: Kv, changes: Partial<FlushContext> = {}) =>
    flush({
      db,
      kv,
      log,
      calendar: createCalendar('Asia/Taipei'),
      now: () => NOW,
      metrics: createMetrics('test'),
      retentionMs: 6e4,
      lockMs: 9e4,
      maxAgeMs: 30 * 86_400_000,
      slicePoints: 3,
      stopping: new AbortController().signal,
      ...changes,
    })
  const columns = async (kv: Kv): Promise<Partial<Ledger>> => {
    for (const { counters } of opened) await counters.sync()
    const { losses: _losses, rejected: _rejected, ...points } = await readLedger(db, kv)
    return Object.fromEntries(Object.entries(points).filter(([, count]) => count !== 0))
  }
  /** Kills Redis, modifies its disk, and waits until the replicas are reconnected. */
  const troubleDisk = async (trouble: (data: string) => void): Promise<void> => {
    await redis.stop('SIGKILL')
    trouble(join(redis.dir, 'appendonlydir'))
    await redis.restart()
    for (const { kv } of opened) await until(() => kv.status().then(() => true), 'the kv to be back')
  }

  beforeEach(async () => {
    ;[redis, database, dir] = await Promise.all([startRedis(), openTestDatabase(), newDirectory('lost')])
    db = await openDatabase({ url: database.url, dir: '' })
  })
  afterEach(async () => {
    for (const { kv, counters } of opened.splice(0)) {
      await counters.stop()
      await kv.close()
    }
    await db?.close()
    await Promise.all([redis?.close(), database?.drop(), rm(dir, { recursive: true })])
  })

  test('after an empty disk all pending points are lost, and the status is unknown until it is read again', async () => {
    const [one, other] = [await openReplica(), await openReplica()]
    await publishStatus(db, one.kv)
    await admit(one.kv, sync('anna', times(0, 7)))
    await admit(other.kv, sync('ben', times(0, 5)))
    // Three points of each partition are stored, but only some of them are acknowledged.
    const settled: number[] = []
    const acknowledge: Kv['acknowledge'] = async (partition, slice, epoch) => {
      if (settled.push(partition) % 2 === 1) await one.kv.acknowledge(partition, slice, epoch)
    }
    await flushAll(one.kv, { kv: { ...one.kv, acknowledge } })
    await admit(one.kv, sync('cleo', times(0, 4)))
    await admit(other.kv, sync('anna', times(7, 2)))
    expect(await columns(one.kv)).toMatchObject({ received: 18, stored: 12 })

    await troubleDisk((data) => rmSync(data, { recursive: true }))
    expect(await admit(one.kv, sync('anna', times(20, 1)))).toEqual({ outcome: 'unknown' })
    expect(await columns(one.kv)).toEqual({ received: 18, stored: 12, lost: 6 })
    await publishStatus(db, one.kv)
    await admit(other.kv, sync('anna', times(20, 3)))
    expect(await columns(one.kv)).toEqual({ received: 21, stored: 12, pending: 3, lost: 6 })
    await flushAll(one.kv)
    expect(await columns(one.kv)).toEqual({ received: 21, stored: 15, lost: 6 })
  })

  test('in a store without its last writes all confirmed points are lost, except those that are already stored', async () => {
    const [one, other] = [await openReplica(), await openReplica()]
    await publishStatus(db, one.kv)
    await admit(one.kv, sync('anna', times(0, 4)))
    await admit(other.kv, sync('ben', times(0, 3)))
    cpSync(join(redis.dir, 'appendonlydir'), join(dir, 'copy'), { recursive: true })
    await admit(one.kv, sync('anna', times(4, 2)))
    // Only the table has these five.
    await flushAll(one.kv)
    await admit(other.kv, sync('ben', times(3, 5)))
    expect(await columns(one.kv)).toEqual({ received: 14, stored: 9, pending: 5 })

    await troubleDisk((data) => {
      rmSync(data, { recursive: true })
      cpSync(join(dir, 'copy'), data, { recursive: true })
    })
    await admit(one.kv, sync('cleo', times(0, 6)))
    await flushAll(one.kv)
    expect(await columns(one.kv)).toEqual({ received: 20, stored: 15, lost: 5 })
    await admit(other.kv, sync('ben', times(3, 5)))
    await flushAll(one.kv)
    expect(await columns(one.kv)).toEqual({ received: 25, stored: 20, lost: 5 })
  })

  test.each([
    ['nothing', 0],
    ['a part', 2],
  ])('what a replica knew that is gone is not forgotten, and %s of it was told before', async (_, told) => {
    const [mine, its] = [openJournal(dir, 10), openJournal(dir, 10)]
    const survivor = await openReplica(mine.path)
    const killed = await openKv({ url: redis.url, partitions: 2, path: '', onError: () => undefined })
    // Never stopped: only its file remains.
    const silent = openProcessCounters({ kv: killed, db, log, journalPath: its.path, journaled: () => 0 })
    await publishStatus(db, survivor.kv)
    if (told > 0) {
      await admit(killed, sync('anna', times(0, told)))
      await silent.sync()
    }
    await admit(killed, sync('anna', times(told, 6 - told)))
    silent.count('rejected:too-old', 4)
    await killed.close()
    await troubleDisk((data) => rmSync(data, { recursive: true }))
    await publishStatus(db, survivor.kv)
    // Its journal stays its own as long as it is locked.
    await mine.adopt()
    expect(await columns(survivor.kv)).toEqual(told > 0 ? { received: told, lost: told } : {})
    its.close()
    await mine.adopt()
    expect(await columns(survivor.kv)).toEqual({ received: 10, lost: 6 })
    expect((await readLedger(db, survivor.kv)).rejected).toEqual({ 'too-old': 4 })
    const names = await db.sql<{ name: string }[]>`SELECT DISTINCT name FROM ledger_counts ORDER BY name`
    expect(names.map(({ name }) => name)).toEqual(['journaled', 'rejected:too-old'])
    mine.close()
  })

  test('a loss is recorded once, when it is found twice, and taken back when the points are found', async () => {
    const { kv, counters } = await openReplica()
    await publishStatus(db, kv)
    await admit(kv, sync('anna', times(0, 6)))
    await counters.sync()
    const look = createLossWatch({ db, kv, now: () => NOW })
    const noted = async () =>
      (await db.sql<{ points: number }[]>`SELECT points::int FROM ledger_losses ORDER BY id`).map(
        (row) => row.points,
      )
    await look()
    await look()
    expect(await noted()).toEqual([])
    await troubleDisk((data) => rmSync(data, { recursive: true }))
    await publishStatus(db, kv)
    await look()
    expect(await noted()).toEqual([])
    for (let i = 0; i < 3; i++) await look()
    expect((await noted()).reduce((sum, points) => sum + points, 0)).toBe(6)
    await db.sql`
      INSERT INTO ledger_counters (epoch, partition, stored) SELECT epoch, partition, acknowledged FROM ledger_callers`
    for (let i = 0; i < 3; i++) await look()
    expect((await noted()).reduce((sum, points) => sum + points, 0)).toBe(0)
  })
})
