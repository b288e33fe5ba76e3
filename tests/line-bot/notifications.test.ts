/** The hourly job: which notifications are due, when, and that each is sent once. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '#shared/runtime/config/config.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { migrateDatabase } from '#shared/stores/db/migrate.ts'
import { createLog } from '#shared/runtime/log.ts'
import { contextOf, openPorts, type Ports } from '#shared/service/service.ts'
import { dispatchNotifications } from '#services/scheduler/dispatch-notifications.ts'
import { copyMigratedDatabase } from '#tests/helpers/migrated-database.ts'

const text = { 'zh-Hant': '您好' }

describe('scheduled notifications', () => {
  const dir = mkdtempSync(join(tmpdir(), 'notifications-'))
  const log = createLog({}, () => undefined)
  let ports: Ports
  let clock = ''
  beforeAll(async () => {
    const config = readConfig({
      EVENT_DATA_DIR: dir,
      EVENT_TIMEZONE: 'Europe/Berlin',
      EVENT_STARTS_AT: '2026-03-28T00:00:00+01:00',
      EVENT_ENDS_AT: '2026-10-26T00:00:00+01:00',
    })
    await copyMigratedDatabase(dir)
    ports = await openPorts(config, log, () => Date.parse(clock), migrateDatabase)
  })
  afterAll(async () => {
    await ports.close()
    rmSync(dir, { recursive: true, force: true })
  })
  beforeEach(async () => {
    await ports.db.sql`TRUNCATE notification_dispatches, outbox`
    await ports.db.sql`UPDATE activity SET status = 'active'`
    await setSlots([])
  })

  const scheduler = (): ServiceContext =>
    contextOf(ports, 'scheduler', log, { tls: false, addressOf: () => 'test' })
  const setSlots = (slots: object[]) => {
    const complete = slots.map((slot) => ({ enabled: true, dates: null, audience: 'all', text, ...slot }))
    return ports.db
      .sql`INSERT INTO notification_plan VALUES (1, ${JSON.stringify(complete)}::text::jsonb, now(), 'test')
      ON CONFLICT (id) DO UPDATE SET slots = excluded.slots`
  }
  const due = async () =>
    (
      await ports.db.sql<{ due: string }[]>`
        SELECT payload->'slot'->>'id' || ' ' || (payload->>'day') AS due FROM outbox ORDER BY id`
    ).map((row) => row.due)
  const at = (time: string) => {
    clock = time
    return dispatchNotifications(scheduler())
  }

  test('one is sent in its hour of the event’s time zone, once a day, however often the job runs', async () => {
    await setSlots([{ id: 'morning', hour: 9 }])
    expect(await at('2026-07-01T06:59:59Z')).toBe(0)
    clock = '2026-07-01T07:00:00Z'
    const counts = await Promise.all(Array.from({ length: 5 }, () => dispatchNotifications(scheduler())))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1)
    expect(await at('2026-07-01T07:59:59Z')).toBe(0)
    expect(await at('2026-07-01T08:00:00Z')).toBe(0)
    expect(await at('2026-07-02T07:30:00Z')).toBe(1)
    expect(await due()).toEqual(['morning 2026-07-01', 'morning 2026-07-02'])
  })

  test('one that can not be dispatched holds up no other of its hour', async () => {
    await ports.db.sql.unsafe(`
      CREATE FUNCTION refuse_bad() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.slot = 'bad' THEN RAISE EXCEPTION 'no' USING ERRCODE = 'XX001'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER refuses BEFORE INSERT ON notification_dispatches FOR EACH ROW EXECUTE FUNCTION refuse_bad()`)
    try {
      await setSlots(['bad', 'good'].map((id) => ({ id, hour: 9 })))
      clock = '2026-07-01T07:00:00Z'
      const context = scheduler()
      expect(await dispatchNotifications(context)).toBe(1)
      expect(await due()).toEqual(['good 2026-07-01'])
      expect(await context.metrics.page()).toMatch(/queue="scheduled notifications".*\} 1/)
    } finally {
      await ports.db.sql.unsafe('DROP TRIGGER refuses ON notification_dispatches; DROP FUNCTION refuse_bad')
    }
    // It is dispatched as soon as that is possible, within its hour.
    expect(await at('2026-07-01T07:30:00Z')).toBe(1)
  })

  test('a slot that moves to a later hour of the same day is not sent again', async () => {
    await setSlots([{ id: 'a', hour: 9 }])
    await at('2026-07-01T07:00:00Z')
    await setSlots([{ id: 'a', hour: 12 }])
    expect(await at('2026-07-01T10:00:00Z')).toBe(0)
    expect(await at('2026-07-02T10:00:00Z')).toBe(1)
  })

  test('one is sent only on its dates, and only when enabled', async () => {
    await setSlots([
      { id: 'dated', hour: 9, dates: ['2026-07-02'] },
      { id: 'off', hour: 9, enabled: false },
    ])
    for (const day of ['01', '02', '03']) await at(`2026-07-${day}T07:00:00Z`)
    expect(await due()).toEqual(['dated 2026-07-02'])
  })

  test('one is sent only while the event is active, and between its start and its end', async () => {
    await setSlots([{ id: 'a', hour: 9 }])
    for (const status of ['paused', 'ended']) {
      await ports.db.sql`UPDATE activity SET status = ${status}`
      expect(await at('2026-07-01T07:00:00Z')).toBe(0)
    }
    await ports.db.sql`UPDATE activity SET status = 'active'`
    expect(await at('2026-03-27T08:00:00Z')).toBe(0)
    expect(await at('2026-10-26T08:00:00Z')).toBe(0)
    expect(await at('2026-07-01T07:00:00Z')).toBe(1)
  })

  test('an hour that a clock change repeats counts once, and a skipped one does not occur', async () => {
    await setSlots([{ id: 'night', hour: 2 }])
    expect(await at('2026-10-25T00:30:00Z')).toBe(1)
    expect(await at('2026-10-25T01:30:00Z')).toBe(0)
    expect(await at('2026-03-29T00:59:00Z')).toBe(0)
    expect(await at('2026-03-29T01:00:00Z')).toBe(0)
  })
})
