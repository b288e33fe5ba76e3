/** The hourly job: which notifications are due and when; each is sent once. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { dispatchNotifications } from '#services/scheduler/dispatch-notifications.ts'
import { openServiceParts, type ServiceParts } from '#tests/helpers/service-parts.ts'

const text = { 'zh-Hant': '您好' }

describe('scheduled notifications', () => {
  let parts: ServiceParts
  let ports: ServiceParts['ports']
  let clock = ''
  beforeAll(async () => {
    parts = await openServiceParts({ EVENT_TIMEZONE: 'Europe/Berlin' }, { now: () => Date.parse(clock) })
    ;({ ports } = parts)
    const name = {
      names: { en: 'Walk' },
      starts_at: '2026-03-27T23:00:00.000Z',
      ends_at: '2026-10-25T23:00:00.000Z',
    }
    await ports.db.sql`INSERT INTO event_settings (version, part, value, changed_at)
      VALUES (1, 'name', ${JSON.stringify(name)}::text::jsonb, now())`
    await ports.event.refresh()
  })
  afterAll(() => parts?.close())
  beforeEach(async () => {
    await ports.db.sql`TRUNCATE notification_dispatches, outbox`
    await ports.db.sql`UPDATE activity SET status = 'active'`
    await setSlots([])
  })

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
    return dispatchNotifications(parts.context())
  }

  test('one is sent in its hour of the event’s time zone, once a day, however often the job runs', async () => {
    await setSlots([{ id: 'morning', hour: 9 }])
    expect(await at('2026-07-01T06:59:59Z')).toBe(0)
    clock = '2026-07-01T07:00:00Z'
    const counts = await Promise.all(Array.from({ length: 5 }, () => dispatchNotifications(parts.context())))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1)
    expect(await at('2026-07-01T07:59:59Z')).toBe(0)
    expect(await at('2026-07-01T08:00:00Z')).toBe(0)
    expect(await at('2026-07-02T07:30:00Z')).toBe(1)
    expect(await due()).toEqual(['morning 2026-07-01', 'morning 2026-07-02'])
  })

  test('one that cannot be dispatched holds up no other of its hour', async () => {
    await ports.db.sql.unsafe(`
      CREATE FUNCTION refuse_bad() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.slot = 'bad' THEN RAISE EXCEPTION 'no' USING ERRCODE = 'XX001'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER refuses BEFORE INSERT ON notification_dispatches FOR EACH ROW EXECUTE FUNCTION refuse_bad()`)
    try {
      await setSlots(['bad', 'good'].map((id) => ({ id, hour: 9 })))
      clock = '2026-07-01T07:00:00Z'
      const context = parts.context()
      expect(await dispatchNotifications(context)).toBe(1)
      expect(await due()).toEqual(['good 2026-07-01'])
      expect(await context.metrics.page()).toMatch(/queue="scheduled notifications".*\} 1/)
    } finally {
      await ports.db.sql.unsafe('DROP TRIGGER refuses ON notification_dispatches; DROP FUNCTION refuse_bad')
    }
    // It is dispatched as soon as possible within its hour.
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

  test('an hour that a clock change repeats counts once, and a skipped one is the next', async () => {
    await setSlots([{ id: 'night', hour: 2 }])
    expect(await at('2026-10-25T00:30:00Z')).toBe(1)
    expect(await at('2026-10-25T01:30:00Z')).toBe(0)
    expect(await at('2026-03-29T00:59:00Z')).toBe(0)
    expect(await at('2026-03-29T01:00:00Z')).toBe(1)
  })
})
