/** The outbox with both drivers of database and bus: every committed event takes effect once. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bus } from '#shared/stores/bus/bus.ts'
import { openBus } from '#shared/stores/bus/open-bus.ts'
import type { Event, Subscriber } from '#shared/contracts/events.ts'
import { time } from '#shared/contracts/fields.ts'
import type { Database } from '#shared/stores/db/db.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { migrateDatabase } from '#shared/stores/db/migrate.ts'
import { createLog, LoggableError } from '#shared/runtime/log.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { createOutbox, type Outbox } from '#shared/stores/bus/outbox.ts'
import { openTestDatabase } from '#tests/helpers/database.ts'
import { copyMigratedDatabase } from '#tests/helpers/migrated-database.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { type Server, startNats } from '#tests/helpers/servers.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'

const SUBJECT = 'event.admin.flush.requested'
const ENDED = { status: 'ended', version: 1, message: null, changed_at: time(0) } as const
interface TestStack {
  db: Database
  nats: Server | null
  openBus(): Promise<Bus>
  close(): Promise<void>
}

async function embedded(): Promise<TestStack> {
  const dir = await newDirectory('outbox')
  await copyMigratedDatabase(dir)
  const db = await openDatabase({ url: '', dir: join(dir, 'db') })
  await migrateDatabase(db)
  return {
    db,
    nats: null,
    openBus: () => openBus({ url: '', onError: () => undefined }),
    async close() {
      await db.close()
      await rm(dir, { recursive: true })
    },
  }
}

async function servers(): Promise<TestStack> {
  const [nats, database] = await Promise.all([startNats(), openTestDatabase()])
  const db = await openDatabase({ url: database.url, dir: '' })
  return {
    db,
    nats,
    openBus: () => openBus({ url: nats.url, onError: () => undefined }),
    async close() {
      await db.close()
      await Promise.all([database.drop(), nats.close()])
    },
  }
}

for (const [name, open] of [
  ['embedded', embedded],
  ['Postgres and NATS', servers],
] as const)
  describe.skipIf(embeddedOnly && open === servers)(`outbox: ${name}`, () => {
    let stack: TestStack
    let bus: Bus
    const outboxes: Outbox[] = []
    const lines: string[] = []
    const metrics = createMetrics('test')
    /** Number of times that this test's subscribers acted on each event, by id. */
    let acts = new Map<number, number>()
    const act = async ({ id }: Event): Promise<void> => void acts.set(id, (acts.get(id) ?? 0) + 1)

    beforeAll(async () => {
      stack = await open()
      bus = await stack.openBus()
    })
    afterAll(async () => {
      await bus?.close()
      await stack?.close()
    })
    // A stopped replica closes its bus; the next test opens another.
    afterEach(async () => {
      await Promise.all(outboxes.splice(0).map((outbox) => outbox.stop()))
      await bus?.close()
      bus = await stack.openBus()
      acts = new Map()
      lines.length = 0
    })

    /** A replica's outbox; it sweeps often, to keep the test short. */
    const join = (on: Bus = bus, now: () => number = Date.now): Outbox => {
      const log = createLog({}, (line) => lines.push(line))
      const outbox = createOutbox(stack.db, on, now, { log, metrics }, { everyMs: 150, afterMs: 100 })
      outboxes.push(outbox)
      return outbox
    }
    const commit = (outbox: Outbox): Promise<Event> =>
      stack.db.transaction((tx) => outbox.add(tx, SUBJECT, { requested_at: time(Date.now()) }))
    const isHandled = async (event: Event, subscriber: Subscriber = 'scheduler.flush'): Promise<boolean> => {
      const rows = await stack.db.sql`
        SELECT 1 FROM handled WHERE event_id = ${event.id} AND subscriber = ${subscriber}`
      return rows.length === 1
    }

    test('an event takes effect once, however often the bus and the sweep deliver it', async () => {
      const outbox = join()
      await outbox.on('scheduler.flush', act)
      const event = await commit(outbox)
      for (let ring = 0; ring < 3; ring++) await outbox.ring(event)
      await until(() => isHandled(event), 'the event')
      await outbox.ring(event)
      const later = await commit(outbox)
      await until(() => isHandled(later), 'the later event')
      expect(acts).toEqual(new Map([event, later].map(({ id }) => [id, 1])))
    })

    test('when the bus and the sweep deliver the same event together, it is handled once', async () => {
      const outbox = join()
      const held = Promise.withResolvers<void>()
      await outbox.on('scheduler.flush', async (event) => {
        await act(event)
        await held.promise
      })
      const event = await commit(outbox)
      await outbox.ring(event)
      await until(() => acts.has(event.id), 'the act to begin')
      // Several sweeps find it unhandled in this time.
      await Bun.sleep(600)
      held.resolve()
      await until(() => isHandled(event), 'the event')
      expect(acts.get(event.id)).toBe(1)
    })

    test('a rolled back event is never delivered', async () => {
      const outbox = join()
      await outbox.on('scheduler.flush', act)
      let undone: Event | null = null
      await rejection(
        stack.db.transaction(async (tx) => {
          undone = await outbox.add(tx, SUBJECT, { requested_at: time(Date.now()) })
          throw new Error('changed my mind')
        }),
      )
      await outbox.ring(undone!)
      const event = await commit(outbox)
      await until(() => isHandled(event), 'the event that was committed')
      expect([...acts.keys()]).toEqual([event.id])
    })

    test('each subscriber handles the event separately, with the payload as written', async () => {
      const outbox = join()
      const payload = { status: 'ended', version: 3, message: 'a|b', changed_at: time(0) } as const
      const got: unknown[] = []
      for (const subscriber of ['scheduler.flush', 'admin.spread-status'] as const)
        await outbox.on(subscriber, async (event) => void got.push([subscriber, event.payload]))
      const event = await stack.db.transaction((tx) => outbox.add(tx, 'event.admin.activity.ended', payload))
      await outbox.ring(event)
      for (const subscriber of ['scheduler.flush', 'admin.spread-status'] as const)
        await until(() => isHandled(event, subscriber), subscriber)
      expect(got).toHaveLength(2)
      expect(got).toEqual(
        expect.arrayContaining([
          ['scheduler.flush', payload],
          ['admin.spread-status', payload],
        ]),
      )
    })

    test('a failed event is retried and reported, and does not block others', async () => {
      const outbox = join()
      let failing: Event | null = null
      let failures = 0
      await outbox.on('scheduler.flush', async (event) => {
        if (event.id === failing?.id && failures++ < 3) throw new LoggableError('not yet')
        await act(event)
      })
      failing = await commit(outbox)
      const next = await commit(outbox)
      await until(() => isHandled(next), 'the event behind the failing one')
      await until(() => isHandled(failing), 'the failing one')
      expect(acts).toEqual(new Map([failing, next].map(({ id }) => [id, 1])))
      expect(lines.join()).toContain('not yet')
    })

    test('a hundred events that fail for ever, more than the sweep reads at once, hold up no other', async () => {
      const outbox = join()
      const bad = new Set<number>()
      for (let i = 0; i < 120; i++) bad.add((await commit(outbox)).id)
      const good = await commit(outbox)
      await outbox.on('scheduler.flush', async (event) => {
        if (bad.has(event.id)) throw new LoggableError('never')
        await act(event)
      })
      try {
        await until(() => isHandled(good), 'the event behind the failing ones')
        expect(acts).toEqual(new Map([[good.id, 1]]))
        expect(lines.join()).toContain('never')
        const counted = /event_failed_items_total\{[^}]*queue="scheduler.flush"[^}]*\} (\d+)/
        expect(Number(counted.exec(await metrics.page())?.[1])).toBeGreaterThanOrEqual(bad.size)
      } finally {
        await stack.db.sql`DELETE FROM outbox WHERE id = ANY(${[...bad]})`
      }
    })

    test('a subscriber that was down receives the events it missed, but none from before its start', async () => {
      const writer = join()
      const event = await commit(writer)
      await writer.ring(event)
      const old = await commit(join(bus, () => Date.now() - 8 * 86_400_000))
      await join().on('scheduler.flush', act)
      await until(() => isHandled(event), 'the event')
      expect([...acts.keys()]).toContain(event.id)
      expect(acts.has(old.id)).toBe(false)
    })

    test('stopping waits for a running sweep', async () => {
      const outbox = join()
      const event = await commit(outbox)
      const started = Promise.withResolvers<void>()
      let finished = false
      await Bun.sleep(120)
      await outbox.on('scheduler.flush', async () => {
        started.resolve()
        await Bun.sleep(100)
        finished = true
      })
      await started.promise
      await outbox.stop()
      expect(finished).toBe(true)
      expect(await isHandled(event)).toBe(true)
    })

    test.skipIf(open === embedded)(
      'NATS down at the commit: ringing does not fail, and it is handled',
      async () => {
        const outbox = join()
        await outbox.on('scheduler.flush', act)
        await stack.nats!.stop('SIGKILL')
        const event = await commit(outbox)
        await outbox.ring(event)
        expect(lines.join()).toContain('the sweep will deliver it')
        await until(() => isHandled(event), 'the event')
        expect(acts.get(event.id)).toBe(1)
        await stack.nats!.restart()
        const later = await commit(outbox)
        await until(() => isHandled(later), 'the event after the outage')
      },
    )

    test.skipIf(open === embedded)('replicas share the work', async () => {
      const buses = [await stack.openBus(), await stack.openBus()]
      const counts = [0, 0]
      for (const [i, each] of buses.entries())
        await join(each).on('scheduler.flush', async (event) => {
          counts[i]!++
          await act(event)
        })
      const outbox = join()
      const events = await Promise.all(Array.from({ length: 20 }, () => commit(outbox)))
      await until(() => bus.connected(), 'the bus')
      for (const event of events) await outbox.ring(event)
      for (const event of events) await until(() => isHandled(event), 'every event')
      expect(acts.size).toBe(20)
      await Promise.all(buses.map((each) => each.close()))
    })

    test('the number of an event that another event has since a restore is ignored', async () => {
      const outbox = join()
      await outbox.on('line-bot.final-summary', act)
      const event = await commit(outbox)
      await outbox.ring({ ...event, subject: 'event.admin.activity.ended' })
      await outbox.on('scheduler.flush', async () => undefined)
      await until(() => isHandled(event), 'the event by its own subscriber')
      const ended = await stack.db.transaction((tx) => outbox.add(tx, 'event.admin.activity.ended', ENDED))
      await outbox.ring(ended)
      await until(() => isHandled(ended, 'line-bot.final-summary'), 'the end')
      expect([...acts.keys()]).not.toContain(event.id)
    })
  })
