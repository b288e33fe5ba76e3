/** The scheduler as a service: it flushes at its start, periodically, and on a domain event. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { createScheduler } from '#services/scheduler/app.ts'
import { pack } from '#shared/points/point.ts'
import { type Environment, readConfig } from '#shared/runtime/config/config.ts'
import { createChecks } from '#shared/service/alerts/health-checks.ts'
import type { Service, ServiceContext } from '#shared/service/context.ts'
import { time } from '#shared/contracts/fields.ts'
import { migrateDatabase } from '#shared/stores/db/migrate.ts'
import { recordEnd, readEndProgress } from '#shared/pilgrims/activity-status.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'
import { createLog } from '#shared/runtime/log.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { createOutbox } from '#shared/stores/bus/outbox.ts'
import { contextOf, openPorts } from '#shared/service/service.ts'
import { openTestDatabase, testRedisUrl } from '#tests/helpers/database.ts'
import { copyMigratedDatabase } from '#tests/helpers/migrated-database.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { startNats } from '#tests/helpers/servers.ts'
import { describeOnServers, STACK_KINDS } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { restore, sync } from '#tests/kv/drivers.ts'
import { walk } from './walks.ts'

/** Lock of a running flush, as in the service. A shorter one would look stale. */
const LOCK_MS = 90_000
interface Running {
  readonly context: ServiceContext
  readonly logged: string[]
  /** How often the scheduler has tried to acquire a lock. */
  readonly tries: () => number
  /** Creates a scheduler on these ports, with the given methods of the kv replaced. */
  create(settings?: Environment, methods?: Partial<Kv>): Service
  close(): Promise<void>
}

async function openRunning(settings: Environment, close: () => Promise<unknown>): Promise<Running> {
  const dir = await newDirectory('scheduler')
  if (settings.DATABASE_URL === undefined) await copyMigratedDatabase(dir)
  const environment = { EVENT_FLUSH_SECONDS: '3600', EVENT_DATA_DIR: dir, ...settings }
  const logged: string[] = []
  const log = createLog({}, (line) => void logged.push(line))
  const ports = await openPorts(readConfig(environment), log, Date.now, migrateDatabase)
  let tries = 0
  const lock: Kv['lock'] = (...args) => {
    tries++
    return ports.kv.lock(...args)
  }
  const contextNow = (): ServiceContext => ({
    ...contextOf(ports, 'scheduler', log, { tls: false, addressOf: () => '127.0.0.1' }),
    kv: { ...ports.kv, lock },
    outbox,
  })
  const outbox = createOutbox(
    ports.db,
    ports.bus,
    Date.now,
    { log, metrics: createMetrics('test') },
    { everyMs: 100, afterMs: 0 },
  )
  return {
    context: contextNow(),
    logged,
    tries: () => tries,
    create(more, methods) {
      const context = contextNow()
      const kv = { ...context.kv, ...methods }
      return createScheduler({ ...context, kv, config: readConfig({ ...environment, ...more }) })
    },
    async close() {
      await outbox.stop()
      await ports.close()
      await close()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

const openEmbedded = (): Promise<Running> => openRunning({}, async () => undefined)

async function openOnServers(): Promise<Running> {
  const [database, redisUrl, nats] = await Promise.all([openTestDatabase(), testRedisUrl(), startNats()])
  const settings = { DATABASE_URL: database.url, REDIS_URL: redisUrl, NATS_URL: nats.url }
  return openRunning(settings, () => Promise.all([database.drop(), nats.close()]))
}

const buffer = ({ kv }: ServiceContext, userId: string, count: number): Promise<void> =>
  restore(kv, sync(userId, [], { entries: walk(count, Date.now()).map(pack) }))

async function stored({ db }: ServiceContext, userId: string): Promise<number> {
  const [row] = await db.sql<
    [{ n: number }]
  >`SELECT count(*)::int AS n FROM gps_points WHERE user_id = ${userId}`
  return row.n
}

async function askForFlush({ db, outbox }: ServiceContext, askedMs = Date.now()): Promise<number> {
  const requested_at = time(askedMs)
  const event = await outbox.add(db, 'event.admin.flush.requested', { requested_at })
  await outbox.ring(event)
  return event.id
}

async function end({ db, outbox }: ServiceContext): Promise<number> {
  const endedAt = new Date()
  await recordEnd(db, endedAt)
  const changed = { status: 'ended', version: 2, message: null, changed_at: time(endedAt.getTime()) } as const
  const event = await outbox.add(db, 'event.admin.activity.ended', changed)
  await outbox.ring(event)
  return event.id
}

const isHandled = async ({ db }: ServiceContext, eventId: number): Promise<boolean> =>
  (await db.sql`SELECT FROM handled WHERE subscriber = 'scheduler.flush' AND event_id = ${eventId}`).length >
  0

const flushes = async ({ db }: ServiceContext): Promise<number> => (await db.sql`SELECT FROM flushes`).length

async function startsTest(open: () => Promise<Running>): Promise<void> {
  const running = await open()
  const { context } = running
  const schedulers: Service[] = []
  const start = async (seconds: number): Promise<Service> => {
    const scheduler = running.create({ EVENT_FLUSH_SECONDS: `${seconds}` })
    schedulers.push(scheduler)
    await scheduler.start()
    return scheduler
  }
  try {
    await buffer(context, 'anna', 3)
    const first = await start(3_600)
    await until(() => flushes(context), 'the first flush at the start')
    expect(await stored(context, 'anna')).toBe(3)
    await first.stop()

    await buffer(context, 'ben', 3)
    const second = await start(3_600)
    // A flush at the start would acquire the lock first.
    const token = await context.kv.lock('flush:0', LOCK_MS)
    expect(token).not.toBeNull()
    await second.stop()
    await context.kv.unlock('flush:0', token!)
    expect([await flushes(context), await stored(context, 'ben')]).toEqual([1, 0])

    await start(1)
    await until(async () => (await stored(context, 'ben')) === 3, 'the flush by the clock')
    await buffer(context, 'cleo', 3)
    await until(async () => (await stored(context, 'cleo')) === 3, 'the next one')
  } finally {
    for (const scheduler of schedulers) await scheduler.stop()
    await running.close()
  }
}

function eventTests(open: () => Promise<Running>): void {
  let running: Running
  let context: ServiceContext
  let scheduler: Service
  beforeAll(async () => {
    running = await open()
    context = running.context
    scheduler = running.create()
    await scheduler.start()
    await until(() => flushes(context), 'the first flush')
  })
  afterAll(async () => {
    await scheduler?.stop()
    await running?.close()
  })

  test('flushes on a domain event', async () => {
    await buffer(context, 'anna', 7)
    const event = await askForFlush(context)
    await until(async () => (await stored(context, 'anna')) === 7, 'the flush on demand')
    await until(() => isHandled(context, event), 'the event to be handled')
  })

  test('in a full kv without points it drops what Postgres holds too, and an alert says that it is full', async () => {
    await until(async () => (await context.kv.bufferSize()) === 0, 'the buffer to be empty')
    const DROPPED = ['tracker:1', 'photos:1']
    for (const key of [...DROPPED, 'kept']) await context.kv.cache(key, 'value', 600_000)
    const isHeld = (key: string) => context.kv.cached(key).then((value) => value !== null)
    const full = { memoryUse: async () => 0.95 }
    const other = running.create({}, full)
    await other.start()
    try {
      await until(async () => !(await Promise.all(DROPPED.map(isHeld))).some(Boolean), 'the room')
    } finally {
      await other.stop()
    }
    expect(await isHeld('kept')).toBe(true)
    const causes = async (kv: Partial<Kv>) =>
      (await createChecks({ ...context, kv: { ...context.kv, ...kv } })()).map(({ key }) => key)
    expect(await causes(full)).toContain('memory')
    expect(await causes({})).not.toContain('memory')
  })

  test('a domain event whose flush fails is not handled; after the retry the final flush is recorded', async () => {
    await buffer(context, 'ben', 4)
    await context.db.sql`ALTER TABLE pilgrim_days RENAME TO elsewhere`
    const event = await end(context)
    const complaint = 'the flush on demand is not complete: 1 failures'
    await until(() => running.logged.some((line) => line.includes(complaint)), 'the failure')
    expect(await isHandled(context, event)).toBe(false)
    expect(await readEndProgress(context.db)).toMatchObject({ flush: 'running' })
    await context.db.sql`ALTER TABLE elsewhere RENAME TO pilgrim_days`
    // A check-in that exists only in a journal belongs to the summary.
    await context.db.sql`INSERT INTO ledger_counts (caller, name, points) VALUES ('replica', 'journaled', 3)`
    const waiting = 'the final flush waits for 3 points that are in journals'
    await until(() => running.logged.some((line) => line.includes(waiting)), 'the wait for the journal')
    expect(await readEndProgress(context.db)).toMatchObject({ flush: 'running' })
    await context.db.sql`DELETE FROM ledger_counts WHERE caller = 'replica'`
    await until(() => isHandled(context, event), 'the next try')
    expect(await readEndProgress(context.db)).toMatchObject({ flush: 'done' })
    expect(await stored(context, 'ben')).toBe(4)
  })

  test('the end is recorded after five minutes, although a pilgrim’s points cannot be stored', async () => {
    await context.db.sql.unsafe(`
      CREATE FUNCTION refuse_gina() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.user_id = 'gina' THEN RAISE EXCEPTION 'no' USING ERRCODE = 'XX001'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER refuses BEFORE INSERT ON pilgrim_days FOR EACH ROW EXECUTE FUNCTION refuse_gina()`)
    try {
      await buffer(context, 'gina', 2)
      await context.db.sql`TRUNCATE ending`
      const event = await end(context)
      await context.db.sql`UPDATE ending SET ended_at = now() - interval '5 minutes'`
      await until(() => isHandled(context, event), 'the end')
      expect(await readEndProgress(context.db)).toMatchObject({ flush: 'done' })
      expect(running.logged.join('')).toContain('the event ends without some points')
      expect(await context.kv.bufferSize()).toBe(1)
      // Nor is a flush that was asked for then repeated for a week.
      const asked = await askForFlush(context, Date.now() - 300_000)
      await until(() => isHandled(context, asked), 'the flush that was asked for')
    } finally {
      await context.db.sql.unsafe('DROP TRIGGER refuses ON pilgrim_days; DROP FUNCTION refuse_gina')
    }
    const flush = await askForFlush(context)
    await until(() => isHandled(context, flush), 'the flush')
    expect(await stored(context, 'gina')).toBe(2)
  })

  test('a stop waits until the slice that is being stored is acknowledged', async () => {
    await buffer(context, 'dora', 3)
    const reached = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const acknowledge: Kv['acknowledge'] = async (...args) => {
      reached.resolve()
      await held.promise
      await context.kv.acknowledge(...args)
    }
    const other = running.create({ EVENT_FLUSH_SECONDS: '1' }, { acknowledge })
    await other.start()
    await reached.promise
    let stopped = false
    const stop = other.stop().then(() => (stopped = true))
    // Long enough for everything else to stop.
    await Bun.sleep(300)
    expect(stopped).toBe(false)
    held.resolve()
    await stop
    expect(await context.kv.peek('dora')).toEqual([])
  })

  test('stops although a flush on demand waits for another one', async () => {
    const token = (await context.kv.lock('flush:0', LOCK_MS))!
    // Without renewal the holder would lose the lock.
    const holding = setInterval(() => void context.kv.renewLock('flush:0', token, LOCK_MS), 500)
    const before = running.tries()
    const event = await askForFlush(context)
    await until(() => running.tries() > before + 1, 'the flush to wait for the lock')
    const startedAt = performance.now()
    await scheduler.stop()
    clearInterval(holding)
    expect(performance.now() - startedAt).toBeLessThan(5_000)
    expect(await isHandled(context, event)).toBe(false)
  })
}

// Also embedded, in `bun run test:all` and when files are named.
for (const [name, open, on] of [
  ['embedded', openEmbedded, describe.skipIf(!STACK_KINDS.includes('embedded'))],
  ['on servers', openOnServers, describeOnServers],
] as const)
  on(`scheduler, ${name}`, () => {
    test('flushes at its start when the last one is too old, and periodically', () => startsTest(open))
    describe('events', () => eventTests(open))
  })
