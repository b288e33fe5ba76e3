/**
 * Presses of SOS buttons: which belong to one emergency, and what happens to them while stores are late or
 * down.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { eraseUser } from '#services/admin/erasure/erase-pilgrim.ts'
import { confirmEmergency } from '#services/admin/supervision/emergencies.ts'
import { alertEmergencies } from '#services/line-bot/sending/schedule-emergency-alerts.ts'
import { join } from 'node:path'
import { createPressSpool, raiseEmergency } from '#services/tracking/emergencies/record-press.ts'
import type { SosPress } from '#shared/contracts/emergencies.ts'
import { Refusal } from '#shared/runtime/refusal.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { openDiskObjects } from '#shared/stores/objects/objects.disk.ts'
import { type Objects, ObjectsUnavailable } from '#shared/stores/objects/objects.ts'
import { trackerKeyHash } from '#shared/pilgrims/tracker-keys.ts'
import { SOS_PRESSES } from '#shared/stores/objects/spool.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { newAppId } from '#tests/helpers/test-stack.ts'
import { openServiceParts, type ServiceParts } from '#tests/helpers/service-parts.ts'
import { until } from '#tests/helpers/wait.ts'

const START = Date.parse('2026-04-12T02:00:00Z')
const MINUTE = 60_000
const OPERATOR = { role: 'manager', level: 2, name: 'lin', fingerprint: 'f', requestId: 'r' } as const

let parts: ServiceParts
let context: ServiceContext
let nowMs = START
beforeAll(async () => {
  parts = await openServiceParts({}, { now: () => nowMs })
  context = parts.context()
})
afterAll(() => parts?.close())
beforeEach(() => (nowMs += 86_400_000))

const place = (lat: number, atMs: number) => ({ lat, lng: 120.5, accuracy: 10, atMs })
/** A press this many minutes after the start of the test. */
const pressAt = (userId: string, minutes: number, fields: Partial<SosPress> = {}): SosPress => ({
  userId,
  source: 'traccar',
  sentMs: nowMs + minutes * MINUTE,
  pressedMs: nowMs + minutes * MINUTE,
  receivedMs: nowMs + minutes * MINUTE,
  place: place(24 + minutes / 100, nowMs + minutes * MINUTE),
  ...fields,
})
interface Row {
  readonly id: string
  readonly presses: number
  readonly source: string
  readonly lat: number | null
  readonly confirmed: boolean
}
const rowsOf = async (userId: string): Promise<Row[]> => [
  ...(await context.db.sql<Row[]>`
    SELECT id, presses, source, lat, confirmed_at IS NOT NULL AS confirmed FROM emergencies
    WHERE user_id = ${userId} ORDER BY raised_at`),
]
const raisedEvents = async () =>
  Number((await context.db.sql`SELECT count(*)::int AS n FROM outbox WHERE subject LIKE '%emergency%'`)[0]!.n)
const spooledOf = async (userId: string) =>
  (await Array.fromAsync(context.objects.list(SOS_PRESSES.prefix))).filter((key) => key.includes(userId))
/** Stores presses concurrently. On a busy machine some go through the spool, or are sent again. */
async function keep(...presses: readonly SosPress[]): Promise<void> {
  const spool = createPressSpool(context)
  const sent = async (press: SosPress): Promise<void> => {
    await spool.keep([press]).catch(async (error: unknown) => {
      if (!(error instanceof Refusal) || error.httpStatus !== 503) throw error
      await spool.put([press])
    })
  }
  await Promise.all(presses.map(sent))
  await spool.drain()
}
const idOf = async (userId: string): Promise<string> => (await rowsOf(userId)).at(-1)!.id

describe('presses', () => {
  test('of one pilgrim are one emergency, raised once, with the latest place', async () => {
    const userId = newAppId()
    const events = await raisedEvents()
    const presses = [0, 1, 2, 3].map((minutes) => pressAt(userId, minutes))
    await keep(...presses)
    // Sent again, and late from another device without a position.
    await keep(...presses)
    await keep(pressAt(userId, 1.5, { source: 'app', place: null }))
    expect(await rowsOf(userId)).toMatchObject([{ source: 'traccar', lat: 24.03, confirmed: false }])
    expect(await raisedEvents()).toBe(events + 1)
  })

  test('that were made before the confirmation belong to it; a later one raises another emergency', async () => {
    const userId = newAppId()
    const first = pressAt(userId, 0)
    await keep(first)
    const id = await idOf(userId)
    nowMs += 10 * MINUTE
    expect(await confirmEmergency(context, OPERATOR, id)).toMatchObject({ confirmed_by: 'lin', presses: 1 })
    // The same request again, one from a queue, and one from another device.
    await keep({ ...first, pressedMs: nowMs + 1, receivedMs: nowMs + 1 })
    await keep(pressAt(userId, -4))
    await keep(pressAt(userId, -2, { source: 'app', receivedMs: nowMs }))
    expect(await rowsOf(userId)).toMatchObject([{ id, presses: 3, confirmed: true }])
    await keep(pressAt(userId, 1))
    expect(await rowsOf(userId)).toMatchObject([{ id }, { presses: 1, confirmed: false }])
    // Two operators confirm: the first confirmation counts.
    await confirmEmergency(context, { ...OPERATOR, name: 'wang' }, id)
    const audited = await context.db.sql`
      SELECT token_name FROM audit_log WHERE action = 'confirm-emergency' AND details->>'user_id' = ${userId}`
    expect(audited.map((row) => String(row.token_name))).toEqual(['lin'])
  })

  test('raise an alert after a confirmation, whatever the clock of the device says', async () => {
    const again = { pressedMs: nowMs, receivedMs: nowMs }
    const cases = {
      // The phone was an hour fast, and its clock was corrected.
      fast: [pressAt('', 60, { source: 'app', ...again }), pressAt('', 5, { source: 'app', ...again })],
      // A stranger sent the last of all times in the name of the pilgrim.
      'last of all': [
        pressAt('', 0, { source: 'app', ...again, sentMs: Date.parse('9999-12-31T23:59:59Z') }),
        pressAt('', 1, { source: 'app', ...again }),
      ],
      // A tracker that is ten minutes slow looks as if its press had waited in a queue.
      slow: [pressAt('', -10, { receivedMs: nowMs }), pressAt('', -5, { receivedMs: nowMs })],
    } as const
    for (const [name, [first, second]] of Object.entries(cases)) {
      const userId = newAppId()
      await keep({ ...first, userId })
      await confirmEmergency(context, OPERATOR, await idOf(userId))
      await keep({ ...second, userId })
      expect({ name, rows: await rowsOf(userId) }).toMatchObject({
        name,
        rows: [{ confirmed: true }, { confirmed: false, presses: 1 }],
      })
    }
  })

  test('of the app are counted once, although a tracker pressed since and the app asks again', async () => {
    const userId = newAppId()
    const press = pressAt(userId, 0, { source: 'app' })
    await keep(press)
    await keep(pressAt(userId, 1))
    for (const minutes of [2, 3]) await keep({ ...press, receivedMs: nowMs + minutes * MINUTE })
    expect(await rowsOf(userId)).toMatchObject([{ presses: 2 }])
  })

  test('raced with a confirmation lose nothing: each is of the confirmed emergency or of a new one', async () => {
    for (let round = 0; round < 5; round++) {
      const userId = newAppId()
      await keep(pressAt(userId, 0))
      const id = await idOf(userId)
      nowMs += MINUTE
      await Promise.all([
        confirmEmergency(context, OPERATOR, id),
        keep(...[1, 2, 3].map((i) => pressAt(userId, i))),
      ])
      const rows = await rowsOf(userId)
      expect(rows[0]).toMatchObject({ id, confirmed: true })
      expect(rows.reduce((sum, { presses }) => sum + presses, 0)).toBeGreaterThanOrEqual(2)
      // Presses after the confirmation are visible to someone.
      await keep(pressAt(userId, 4))
      expect((await rowsOf(userId)).at(-1)).toMatchObject({ confirmed: false })
    }
  })

  test('of the app tell by their wait when they were made, whatever its clock says', async () => {
    const userId = newAppId()
    const spool = createPressSpool(context)
    const pressedMs = nowMs - 30 * MINUTE
    // The clock is two hours ahead.
    const request = {
      user_id: userId,
      pressed_at: pressedMs + 120 * MINUTE,
      waited_ms: 30 * MINUTE,
      lat: 24.5,
      lng: 120.5,
      position_at: pressedMs + 119 * MINUTE,
    }
    const state = await raiseEmergency(spool, request, nowMs)
    await spool.drain()
    expect(state).toEqual({
      userId,
      pressed_at: new Date(request.pressed_at).toISOString(),
      seen_at: null,
      alerted: null,
    })
    const [held] = await context.db.sql`
      SELECT extract(epoch FROM first_press_at) * 1000 AS pressed, extract(epoch FROM place_at) * 1000 AS placed, id
      FROM emergencies WHERE user_id = ${userId}`
    expect([Number(held!.pressed), Number(held!.placed)]).toEqual([pressedMs, pressedMs - MINUTE])
    await confirmEmergency(context, OPERATOR, String(held!.id))
    // The phone polls its state again.
    nowMs += MINUTE
    const isSeen = async () => (await raiseEmergency(spool, request, nowMs)).seen_at !== null
    await until(isSeen, 'the phone to hear that it was seen')
    expect(await rowsOf(userId)).toHaveLength(1)
  })
})

describe('an erasure', () => {
  const blankable = async (userId: string) => {
    // Those of other tests are due too.
    await context.db.sql`DELETE FROM emergencies`
    await keep(pressAt(userId, 0))
    const id = await idOf(userId)
    await context.db
      .sql`UPDATE pilgrims SET display_name = 'Secret', phone = '0911222333' WHERE user_id = ${userId}`
    await context.db.sql`
      INSERT INTO role_assignments VALUES ('U1234567890abcdef1234567890abcdef', 'owner', 'x', now())
      ON CONFLICT DO NOTHING`
    return id
  }
  const alerts = async (id: string): Promise<string[]> => {
    const rows = await context.db.sql<{ text: string }[]>`
      SELECT body::text || coalesce(notices::text, '') AS text FROM messages m
      JOIN message_chunks c ON c.message_id = m.id WHERE m.cause_key LIKE ${`emergency:${id}:%`}`
    return rows.map(({ text }) => text)
  }

  test('empties the alerts, and takes the presses that wait', async () => {
    const userId = newAppId()
    const id = await blankable(userId)
    await alertEmergencies(context, true)
    await alertEmergencies(context, true)
    const before = await alerts(id)
    expect(before).toHaveLength(1)
    for (const text of ['Secret', '0911222333', '24.00000']) expect(before[0]).toContain(text)
    await createPressSpool(context).put([pressAt(userId, 0)])
    nowMs += MINUTE
    await eraseUser(context, OPERATOR, userId)
    expect(await spooledOf(userId)).toEqual([])
    expect(await rowsOf(userId)).toEqual([])
    expect(await alerts(id)).toEqual(['[]'])
    // An earlier press that arrives late, and one of a pilgrim who has not consented again.
    await createPressSpool(context).put([pressAt(userId, -1, { receivedMs: nowMs - 1 })])
    await createPressSpool(context).drain()
    expect(await spooledOf(userId)).toEqual([])
    await keep(pressAt(userId, 1)).catch(({ reason }) => expect(reason).toBe('erased'))
    expect(await rowsOf(userId)).toEqual([])
  })

  test('raced with the alert leaves nothing of the person', async () => {
    for (let round = 0; round < 5; round++) {
      const userId = newAppId()
      const id = await blankable(userId)
      nowMs += MINUTE
      await Promise.all([alertEmergencies(context, true), eraseUser(context, OPERATOR, userId)])
      for (const text of await alerts(id)) expect(text).not.toContain('Secret')
    }
  })
})

describe('without the database', () => {
  /** Runs while the database's only connection is blocked. */
  async function whileFrozen<T>(work: () => Promise<T>): Promise<T> {
    const held = Promise.withResolvers<void>()
    const isHeld = Promise.withResolvers<void>()
    const holding = context.db.transaction(async () => {
      isHeld.resolve()
      await held.promise
    })
    await isHeld.promise
    try {
      return await work()
    } finally {
      held.resolve()
      await holding
    }
  }

  test('a press waits in the spool, and is raised once afterwards', async () => {
    const userId = newAppId()
    const spool = createPressSpool(context)
    const events = await raisedEvents()
    expect(await whileFrozen(() => spool.keep([pressAt(userId, 0)]))).toBeNull()
    expect(await spooledOf(userId)).toHaveLength(1)
    // The abandoned call is stored too, once the database is back.
    await spool.drain()
    await spool.drain()
    expect(await spooledOf(userId)).toEqual([])
    expect(await rowsOf(userId)).toMatchObject([{ presses: 1, confirmed: false }])
    expect(await raisedEvents()).toBe(events + 1)
  })

  const put = async () => {
    throw new ObjectsUnavailable('gone')
  }
  /** Presses while neither store accepts any. */
  const withoutStores = (disk?: Promise<Objects>) =>
    createPressSpool({ ...context, objects: { ...context.objects, put } }, disk)

  test('and without the object store it waits on the disk, also that of a tracker whose key nobody knew', async () => {
    const [userId, owner, key] = [newAppId(), newAppId(), crypto.randomUUID()]
    const keyHash = trackerKeyHash(key)
    await context.db.sql`
      INSERT INTO trackers (id, user_id, key_hash, created_at)
      VALUES (gen_random_uuid(), ${owner}, ${keyHash}, now())`
    const directory = join(context.config.dataDir, 'alarms')
    const disk = openDiskObjects(directory)
    const spool = withoutStores(disk)
    const presses = [
      pressAt(userId, 0),
      { ...pressAt(owner, 0), userId: null, keyHash },
      { ...pressAt(owner, 0), userId: null, keyHash: trackerKeyHash('invented') },
    ]
    await whileFrozen(() => Promise.all(presses.map((press) => spool.keep([press]))))
    // Another process takes over the directory.
    const next = createPressSpool(context, openDiskObjects(directory))
    await next.drain()
    await next.drain()
    for (const one of [userId, owner])
      expect(await rowsOf(one)).toMatchObject([{ presses: 1, confirmed: false }])
    expect(await Array.fromAsync((await disk).list(SOS_PRESSES.prefix))).toEqual([])
  })

  test('and without any disk the answer is 503', async () => {
    const gone = openDiskObjects('/dev/null/alarms')
    gone.catch(() => undefined)
    for (const disk of [undefined, gone]) {
      const refusal = await whileFrozen(() => rejection(withoutStores(disk).keep([pressAt(newAppId(), 0)])))
      expect(refusal).toMatchObject({ httpStatus: 503, reason: 'unavailable' })
    }
  })
})
