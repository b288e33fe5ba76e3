/** A database and a kv for flushes, embedded and on servers. */
import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { flush, type FlushContext, type FlushResult } from '#services/scheduler/flush/flush.ts'
import { pack, type Point } from '#shared/points/point.ts'
import type { Database } from '#shared/stores/db/db.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { migrateDatabase } from '#shared/stores/db/migrate.ts'
import { type Kv, partitionOf } from '#shared/stores/kv/kv.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { createLog } from '#shared/runtime/log.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { openTestDatabase, testRedisUrl } from '#tests/helpers/database.ts'
import { copyMigratedDatabase } from '#tests/helpers/migrated-database.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { describeOnServers, STACK_KINDS } from '#tests/helpers/suite.ts'
import { onError, rules } from '#tests/kv/drivers.ts'

export const RETENTION_MS = 259_200_000
export const MAX_AGE_MS = 2_592_000_000
/** Noon of a day in Taipei; the time of the flush until a test changes it. */
export const NOON = Date.parse('2026-04-12T04:00:00Z')

/** The fields of a log line that tests check. */
export interface Line {
  readonly level: string
  readonly message: string
  readonly error?: string
}

/** A database, and a new kv for each test. */
interface Opened {
  readonly db: Database
  readonly databaseUrl: string
  openKv(): Promise<{ readonly kv: Kv; readonly redisUrl: string }>
  close(): Promise<void>
}

/** The dependencies of a flush; the database and the kv may change between tests. */
export class FlushHarness {
  db!: Database
  kv!: Kv
  /** URLs of both for another process; empty for embedded ones. */
  urls = { databaseUrl: '', redisUrl: '' }
  nowMs = NOON
  /** Log lines at `warn` and above. */
  complaints: Line[] = []
  readonly calendar = createCalendar('Asia/Taipei')

  context(changes: Partial<FlushContext> = {}): FlushContext {
    return {
      db: this.db,
      kv: this.kv,
      calendar: this.calendar,
      now: () => this.nowMs,
      log: createLog({}, (text) => {
        const line = JSON.parse(text) as Line
        if (line.level !== 'info') this.complaints.push(line)
      }),
      metrics: createMetrics('test'),
      retentionMs: RETENTION_MS,
      maxAgeMs: MAX_AGE_MS,
      lockMs: 90_000,
      slicePoints: 5_000,
      stopping: new AbortController().signal,
      ...changes,
    }
  }

  flush(changes: Partial<FlushContext> = {}, waitMs = 0): Promise<FlushResult> {
    return flush(this.context(changes), waitMs)
  }

  /** Adds points to a pilgrim's buffer, as an answered request does. */
  buffer(userId: string, points: readonly Point[], retentionMs = RETENTION_MS): Promise<void> {
    return this.bufferEntries(userId, points.map(pack), retentionMs)
  }

  async bufferEntries(
    userId: string,
    entries: readonly { field: string; value: string }[],
    retentionMs = RETENTION_MS,
  ): Promise<void> {
    const id = crypto.randomUUID()
    const submission = {
      id,
      userId,
      kind: 'sync',
      entries,
      duplicateKey: '',
      recordedMs: 0,
      position: null,
    } as const
    await this.kv.restore(partitionOf(userId, this.kv.partitions), [submission], rules({ retentionMs }))
  }

  /** All pending points, as `user field`, sorted. */
  async pending(): Promise<string[]> {
    const found: string[] = []
    for (let partition = 0; partition < this.kv.partitions; partition++)
      for (const { userId, entries } of await this.kv.drain(partition, await this.kv.pendingUsers(partition)))
        found.push(...entries.map(({ field }) => `${userId} ${field}`))
    return found.sort()
  }

  async storedPoints(): Promise<number> {
    const [row] = await this.db.read(
      () => this.db.sql<[{ n: number }]>`SELECT count(*)::int AS n FROM gps_points`,
    )
    return row.n
  }

  deadLetters() {
    return this.db.sql<{ user_id: string; field: string; value: string; reason: string }[]>`
      SELECT user_id, field, value, reason FROM dead_letters ORDER BY id`
  }

  /** Empties every table that a flush writes. */
  async empty(): Promise<void> {
    await this.db.read(
      () => this.db
        .sql`TRUNCATE gps_points, pilgrims, pilgrim_totals, shown_walks, pilgrim_days, event_hours, event_days,
        event_modes, cell_changes, cell_tiles, erased_cells, erased_hours, erased_days,
        erased_modes, flushes, dead_letters, ledger_counters, ledger_callers, ledger_counts, ledger_losses, outbox, handled`,
    )
    this.nowMs = NOON
    this.complaints = []
  }
}

async function openEmbedded(): Promise<Opened> {
  const dir = await newDirectory('flush')
  await copyMigratedDatabase(dir)
  const db = await openDatabase({ url: '', dir: join(dir, 'db') })
  await migrateDatabase(db)
  return {
    db,
    databaseUrl: '',
    async openKv() {
      const path = join(dir, crypto.randomUUID())
      return { kv: await openKv({ url: '', partitions: 1, path, onError }), redisUrl: '' }
    },
    async close() {
      await db.close()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

async function openOnServers(partitions: number): Promise<Opened> {
  const database = await openTestDatabase()
  const db = await openDatabase({ url: database.url, dir: '' })
  return {
    db,
    databaseUrl: database.url,
    async openKv() {
      const redisUrl = await testRedisUrl()
      return { kv: await openKv({ url: redisUrl, partitions, path: '', onError }), redisUrl }
    },
    async close() {
      await db.close()
      await database.drop()
    },
  }
}

/**
 * Runs the same tests on servers with 16 partitions; in `bun run test:all` and when files are named also on
 * servers with one partition, and embedded (PGlite), which rarely differ.
 */
export function describeFlushHarness(name: string, tests: (harness: FlushHarness) => void): void {
  if (STACK_KINDS.includes('embedded')) describe(`${name}, embedded`, () => tests(setUp(openEmbedded)))
  if (STACK_KINDS.length > 1)
    describeOnServers(`${name}, on servers`, () => tests(setUp(() => openOnServers(1))))
  describeOnServers(`${name}, on servers with 16 partitions`, () => tests(setUp(() => openOnServers(16))))
}

/** On Postgres and Redis only. */
export const describeFlushOnServers = (
  name: string,
  tests: (harness: FlushHarness) => void,
  partitions = 1,
): void => describeOnServers(name, () => tests(setUp(() => openOnServers(partitions))))

/** A harness whose tables and kv are empty before each test. */
function setUp(open: () => Promise<Opened>): FlushHarness {
  const harness = new FlushHarness()
  let opened: Opened
  beforeAll(async () => {
    opened = await open()
    harness.db = opened.db
  })
  beforeEach(async () => {
    const { kv, redisUrl } = await opened.openKv()
    harness.kv = kv
    harness.urls = { databaseUrl: opened.databaseUrl, redisUrl }
    await harness.empty()
  })
  afterEach(() => harness.kv.close())
  afterAll(() => opened?.close())
  return harness
}
