/** Which events the outbox's sweep leaves to the bus, and which it delivers. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Bus } from '#shared/stores/bus/bus.ts'
import { openBus } from '#shared/stores/bus/open-bus.ts'
import type { Event } from '#shared/contracts/events.ts'
import { time } from '#shared/contracts/fields.ts'
import type { Database } from '#shared/stores/db/db.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { createLog } from '#shared/runtime/log.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { createOutbox, type Outbox } from '#shared/stores/bus/outbox.ts'
import { openTestDatabase, type TestDatabase } from '#tests/helpers/database.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'

const GRACE_MS = 60_000
const START = Date.parse('2026-04-12T00:00:00Z')

describeOnServers('the sweep', () => {
  let database: TestDatabase
  let db: Database
  let bus: Bus
  let outbox: Outbox
  let clockMs = START
  const acts: number[] = []
  const metrics = createMetrics('test')
  const ageIs = (seconds: number) =>
    until(
      async () =>
        (await metrics.page()).includes(`{subscriber="scheduler.flush",service="test"} ${seconds}\n`),
      `an age of ${seconds} s in the metrics`,
    )

  beforeAll(async () => {
    database = await openTestDatabase()
    db = await openDatabase({ url: database.url, dir: '' })
    bus = await openBus({ url: '', onError: () => undefined })
    const log = createLog({}, () => undefined)
    outbox = createOutbox(db, bus, () => clockMs, { log, metrics }, { everyMs: 50, afterMs: GRACE_MS })
  })
  afterAll(async () => {
    await outbox?.stop()
    await bus?.close()
    await db?.close()
    await database?.drop()
  })

  /** An event that is not announced on the bus. */
  const commitAt = (ms: number): Promise<Event> => {
    clockMs = ms
    return db.transaction((tx) => outbox.add(tx, 'event.admin.flush.requested', { requested_at: time(ms) }))
  }
  const acted = ({ id }: Event) => until(() => acts.includes(id), `event ${id} to be acted on`)

  test('a new event is left to the bus, and published by the sweep once it is old', async () => {
    const young = await commitAt(START)
    const old = await commitAt(START - GRACE_MS - 1)
    clockMs = START
    const may = Promise.withResolvers<void>()
    await outbox.on('scheduler.flush', async ({ id }) => {
      await may.promise
      acts.push(id)
    })
    await ageIs(GRACE_MS / 1_000 + 0.001)
    may.resolve()
    // A sweep handles lower numbers first, so the young event would have come earlier.
    await acted(old)
    expect(acts).toEqual([old.id])
    await ageIs(0)
    clockMs = START + GRACE_MS + 1
    await acted(young)
    // Written by a process whose clock is ahead, while the bus is down.
    const ahead = await commitAt(START + 60 * GRACE_MS)
    clockMs = START + GRACE_MS + 1
    await acted(ahead)
    await outbox.stop()
    expect(acts).toEqual([old.id, young.id, ahead.id])
  })
})
