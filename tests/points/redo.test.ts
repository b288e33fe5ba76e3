/** A Redis that returns without its data, or without its last writes, gets its admitted points again. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { flush } from '#services/scheduler/flush/flush.ts'
import { mendKvCopies, publishStatus } from '#shared/pilgrims/kv-copies.ts'
import { type Buffer, createBuffer } from '#shared/points/buffer.ts'
import { openJournal } from '#shared/points/journal/journal.ts'
import { openProcessCounters } from '#shared/points/ledger/counters.ts'
import { type Ledger, readLedger } from '#shared/points/ledger/ledger.ts'
import { createRedo } from '#shared/points/redo/redo.ts'
import { openRedoLog, type RedoLog } from '#shared/points/redo/redo-log.ts'
import type { Database } from '#shared/stores/db/db.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { type Kv, type Submission, userHash } from '#shared/stores/kv/kv.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { stopwatch } from '#shared/runtime/clock.ts'
import { createLog } from '#shared/runtime/log.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { openTestDatabase, type TestDatabase } from '#tests/helpers/database.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { type Server, startRedis } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { checkin, rules, sync } from '#tests/kv/drivers.ts'
import { ADMIT_MS } from './replica.ts'

const log = createLog({}, () => undefined)
const NOW = Date.parse('2026-04-12T04:00:00Z')
const times = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => NOW + (from + i) * 60_000)

test('points that are logged before the event is known are not given to another event', async () => {
  const dir = await newDirectory('redo')
  const [first, second] = ['a', 'b'].map(() => openRedoLog({ dir, stopwatch, log }))
  first!.add(sync('anna', times(0, 2)))
  await first!.write()
  await first!.identify('one')
  await first!.identify('one')
  await second!.identify('another')
  expect(await Array.fromAsync(second!.pages(10))).toEqual([])
  expect((await Array.fromAsync(first!.pages(10))).flat()).toMatchObject([{ userId: 'anna' }])
  first!.add(sync('ben', times(0, 2)))
  expect((await Array.fromAsync(first!.pages(10))).flat()).toHaveLength(2)
  expect(readdirSync(dir)).toHaveLength(1)
})

describeOnServers('what Redis has lost', () => {
  let redis: Server
  let database: TestDatabase
  let db: Database
  let dir = ''
  let kv: Kv
  let redoLog: RedoLog
  let buffer: Buffer
  let counters: ReturnType<typeof openProcessCounters>

  beforeEach(async () => {
    ;[redis, database, dir] = await Promise.all([startRedis(), openTestDatabase(), newDirectory('redo')])
    db = await openDatabase({ url: database.url, dir: '' })
    kv = await openKv({ url: redis.url, partitions: 2, path: '', onError: () => undefined })
    await startTracking()
  })
  async function startTracking(): Promise<void> {
    const journal = openJournal(join(dir, 'journal'), 1_000)
    counters = openProcessCounters({ kv, db, log, journalPath: null, journaled: () => journal.points() })
    redoLog = openRedoLog({ dir: join(dir, 'redo'), stopwatch, log })
    const prime = () => publishStatus(db, kv)
    const metrics = createMetrics('tracking')
    const refill = async () => {
      await prime()
      await mendKvCopies({ db, kv, log, metrics })
    }
    const own = { kv, db, rules: rules(), count: counters.count, prime, log }
    const redo = createRedo({ ...own, refill, redoLog, neededMs: async () => null })
    buffer = createBuffer({ ...own, journal, redo, counters, admitMs: ADMIT_MS, now: () => NOW, metrics })
    await buffer.start()
  }
  afterEach(async () => {
    await buffer?.stop()
    await counters?.stop()
    await kv?.close()
    await db?.close()
    await Promise.all([redis?.close(), database?.drop(), rm(dir, { recursive: true })])
  })

  const columns = async (): Promise<Partial<Ledger>> => {
    await counters.sync()
    const { losses: _losses, rejected: _rejected, ...points } = await readLedger(db, kv)
    return Object.fromEntries(Object.entries(points).filter(([, count]) => count !== 0))
  }
  const flushAll = () =>
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
    })
  const admit = async (submission: Submission): Promise<void> => {
    const verdict = await buffer.admitTrack(submission)
    expect(verdict.outcome).toBe('admitted')
  }

  const appendOnly = (): string => join(redis.dir, 'appendonlydir')
  const DISKS: Record<string, { readonly before: () => void; readonly after: () => void }> = {
    'all its data': { before: () => undefined, after: () => rmSync(appendOnly(), { recursive: true }) },
    'its last writes': {
      before: () => cpSync(appendOnly(), join(dir, 'copy'), { recursive: true }),
      after() {
        rmSync(appendOnly(), { recursive: true })
        cpSync(join(dir, 'copy'), appendOnly(), { recursive: true })
      },
    },
  }

  test.each(Object.keys(DISKS))(
    '%s: is in its buffer again by itself, once, and nobody is missing',
    async (lost) => {
      await admit(sync('anna', times(0, 5)))
      await flushAll()
      await admit(sync('ben', times(0, 4)))
      DISKS[lost]!.before()
      const first = checkin({ userId: 'cleo', duplicateKey: 'once' })
      await buffer.admitDurably(first)
      // A repetition with another time: the check-in itself is not counted again.
      const repeated = await buffer.admitDurably({ ...checkin({ userId: 'cleo' }), duplicateKey: 'once' })
      expect(repeated).toMatchObject({ duplicate: true })
      await admit(sync('anna', times(5, 3)))
      await admit(sync('erased', times(0, 6)))
      const taken = { received: 20, stored: 5, duplicate: 1 }
      expect(await columns()).toEqual({ ...taken, pending: 14 })

      await redis.stop('SIGKILL')
      DISKS[lost]!.after()
      const erasedMs = Date.now()
      await db.sql`
      INSERT INTO erasures (user_hash, generation, erased_at, stands)
      VALUES (${userHash('erased')}, 1, to_timestamp(${erasedMs}::float8 / 1000), true)`
      await redis.restart()
      await until(async () => (await kv.status()) !== null, 'the store')
      await until(async () => (await columns()).pending === 8, 'the points')
      await flushAll()
      expect((await columns()).stored).toBe(13)
      const rows = await db.sql<{ user_id: string; points: number }[]>`
      SELECT user_id, count(*)::int AS points FROM gps_points GROUP BY user_id ORDER BY user_id`
      expect([...rows]).toEqual([
        { user_id: 'anna', points: 8 },
        { user_id: 'ben', points: 4 },
        { user_id: 'cleo', points: 1 },
      ])
    },
  )

  test('is restored also when no tracking process ran at the time', async () => {
    await admit(sync('anna', times(0, 5)))
    await until(() => existsSync(join(dir, 'redo', 'kv.json')), 'the note of the kv')
    await buffer.stop()
    await redis.stop('SIGKILL')
    DISKS['all its data']!.after()
    await redis.restart()
    await until(async () => (await kv.servers()).length > 0, 'the store')
    await startTracking()
    await until(async () => (await columns()).pending === 5, 'the points')
  })

  test('is not given to another event that uses the same directory', async () => {
    const note = join(dir, 'redo', 'kv.json')
    await until(() => existsSync(note), 'the note of the kv')
    await admit(sync('anna', times(0, 5)))
    await buffer.stop()
    const noted = readFileSync(note, 'utf8')
    await redis.stop('SIGKILL')
    DISKS['all its data']!.after()
    await redis.restart()
    await until(async () => (await kv.servers()).length > 0, 'the store')
    await db.sql`UPDATE activity SET event_id = gen_random_uuid()`
    await startTracking()
    await until(() => readFileSync(note, 'utf8') !== noted, 'the note of the new kv')
    expect(await kv.pendingOf(['anna'])).toEqual([0])
  })

  test('a process that stops in the middle leaves the rest to the next one', async () => {
    const note = join(dir, 'redo', 'kv.json')
    await admit(sync('anna', times(0, 5)))
    await until(() => existsSync(note), 'the note of the kv')
    await buffer.stop()
    await startTracking()
    await admit(sync('ben', times(0, 4)))
    await buffer.stop()
    const noted = readFileSync(note, 'utf8')
    await redis.stop('SIGKILL')
    DISKS['all its data']!.after()
    await redis.restart()
    await until(async () => (await kv.servers()).length > 0, 'the store')

    let stopped: Promise<void> | undefined
    const restore: Kv['restore'] = (...given) => {
      stopped = ending.stop()
      return kv.restore(...given)
    }
    const ending = createRedo({
      kv: { ...kv, restore },
      db,
      redoLog: openRedoLog({ dir: join(dir, 'redo'), stopwatch, log }),
      rules: rules(),
      count: () => undefined,
      refill: () => publishStatus(db, kv),
      neededMs: async () => null,
      log,
    })
    ending.start()
    await until(() => stopped !== undefined, 'the first page')
    await stopped
    expect(readFileSync(note, 'utf8')).toBe(noted)
    await startTracking()
    await until(async () => (await kv.pendingOf(['anna', 'ben'])).join() === '5,4', 'all points')
  })

  test('the ledger counts nothing as lost, and nothing twice', async () => {
    await admit(sync('anna', times(0, 5)))
    await flushAll()
    await admit(sync('anna', times(5, 7)))
    expect(await columns()).toEqual({ received: 12, stored: 5, pending: 7 })
    await redis.stop('SIGKILL')
    DISKS['all its data']!.after()
    await redis.restart()
    await until(async () => (await columns()).pending === 7, 'the points')
    expect(await columns()).toEqual({ received: 12, stored: 5, pending: 7 })
    await flushAll()
    expect(await columns()).toEqual({ received: 12, stored: 12 })
  })

  test('is kept no longer than it is needed, and read also from the files of an ended process', async () => {
    const filesOf = () => readdirSync(join(dir, 'redo')).filter((file) => file.endsWith('.redo'))
    await admit(sync('anna', times(0, 5)))
    await redoLog.write()
    expect(filesOf()).toHaveLength(1)
    appendFileSync(join(dir, 'redo', filesOf()[0]!), '{"cut sh')
    const next = openRedoLog({ dir: join(dir, 'redo'), stopwatch, log })
    const read = await Array.fromAsync(next.pages(10))
    expect(read.flat()).toMatchObject([{ userId: 'anna' }])
    await next.close()
    redoLog.forget(60_000)
    expect(filesOf()).toHaveLength(1)
    redoLog.forget(0)
    expect(filesOf()).toEqual([])
    expect(existsSync(join(dir, 'redo'))).toBeTrue()
  })
})
