/** The sweep of erasures runs at the start and then periodically, one round at a time. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eraseUser } from '#services/admin/erasure/erase-pilgrim.ts'
import {
  createErasureSweep,
  finishErasures,
  removeLeftovers,
} from '#services/admin/erasure/finish-erasures.ts'
import { setPhone } from '#services/survey-profile/write-profile.ts'
import { ObjectsUnavailable } from '#shared/stores/objects/objects.ts'
import { cardKey, screenshotKey } from '#shared/stores/objects/pictures.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { erasing } from '#shared/stores/schema/tables.ts'
import { OPERATOR } from '#tests/admin/backup-harness.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { type Late, newUser, openLate } from './late-writers.ts'

describeOnServers('the sweep of erasures', () => {
  let late: Late
  beforeAll(async () => {
    late = await openLate()
  })
  afterAll(() => late?.close())

  test('removes what late writers left when it starts, and finishes erasures that fail after its first round', async () => {
    const { context } = late
    const { objects, db } = context
    const card = async (userId: string) => {
      await objects.put(cardKey(userId), new Uint8Array(1), { contentType: 'image/png' })
    }
    const there = async (userId: string) => (await objects.head(cardKey(userId))) !== null
    const [left, unfinished] = [newUser(), newUser()]
    for (const userId of [left, unfinished]) await setPhone(context, { user_id: userId, phone: '0912345678' })
    await late.erase(left)
    await card(left)
    const sweep = createErasureSweep(context)
    for (const job of sweep) job.start()
    await until(async () => !(await there(left)), 'the round at the start')

    await card(unfinished)
    const failing: ServiceContext = {
      ...context,
      objects: { ...objects, delete: () => Promise.reject(new ObjectsUnavailable('away')) },
    }
    await eraseUser(failing, OPERATOR, unfinished)
    expect(await db.sql`SELECT FROM erasing`).toHaveLength(1)
    await until(async () => (await db.sql`SELECT FROM erasing`).length === 0, 'a later round')
    expect(await there(unfinished)).toBe(false)
    for (const job of sweep) await job.stop()
  })

  test('an erasure empties the tables that a later release has added, and no other program’s', async () => {
    const { context } = late
    const { sql } = context.db
    await sql`CREATE TABLE next_steps (user_id text NOT NULL, steps integer)`
    await sql`CREATE TABLE others_rows (user_id integer NOT NULL)`
    const left = async () => {
      const [erased, other] = [newUser(), newUser()]
      for (const userId of [erased, other]) {
        await setPhone(context, { user_id: userId, phone: '0912345678' })
        await sql`INSERT INTO next_steps VALUES (${userId}, 7)`
      }
      await late.erase(erased)
      const rows = await sql<{ user_id: string }[]>`SELECT user_id FROM next_steps`
      return [erased, other].map((userId) => rows.some((row) => row.user_id === userId))
    }
    expect(await left()).toEqual([true, true])
    await sql`INSERT INTO drizzle.__drizzle_migrations (hash, created_at, readable_from) VALUES ('next', 9e12, '1.6.0')`
    expect(await left()).toEqual([false, true])
    await sql`DELETE FROM drizzle.__drizzle_migrations WHERE hash = 'next'`
    await sql`DROP TABLE next_steps, others_rows`
  })

  test('a picture that cannot be deleted holds up no other, of its pilgrim or of others', async () => {
    const { context } = late
    const { objects, db } = context
    const [first, second] = [newUser(), newUser()]
    const put = (key: string) => objects.put(key, new Uint8Array(1), { contentType: 'image/png' })
    const there = async (key: string) => (await objects.head(key)) !== null
    const screenshot = screenshotKey(`${'5c'.repeat(16)}.png`)!
    for (const userId of [first, second]) {
      await setPhone(context, { user_id: userId, phone: '0912345678' })
      await put(cardKey(userId))
    }
    await put(screenshot)
    await db.sql`
      INSERT INTO feedback (user_id, category, description, status, screenshot_url, created_at, updated_at)
      VALUES (${first}, 'a', 'b', 'new', ${screenshot}, now(), now())`
    const remove = (key: string) =>
      key === cardKey(first) ? Promise.reject(new ObjectsUnavailable('damaged')) : objects.delete(key)
    const metrics = createMetrics('test')
    const poisoned: ServiceContext = { ...context, metrics, objects: { ...objects, delete: remove } }
    for (const userId of [first, second]) await eraseUser(poisoned, OPERATOR, userId)
    await finishErasures(poisoned)
    expect(await there(screenshot)).toBe(false)
    expect(await there(cardKey(second))).toBe(false)
    expect(await db.sql`SELECT subject, remaining FROM erasing`).toMatchObject([
      { subject: first, remaining: ['objects'] },
    ])
    // The other sweep, for data that late calls have stored.
    await put(cardKey(second))
    await removeLeftovers(poisoned)
    expect([await there(cardKey(first)), await there(cardKey(second))]).toEqual([true, false])
    expect(await metrics.page()).toMatch(/queue="cards of erased people".*\} 1/)
    await finishErasures(context)
    expect(await there(cardKey(first))).toBe(false)
    expect(await db.sql`SELECT FROM erasing`).toHaveLength(0)
  })

  test('where rows that a restore brought back cannot be deleted, nothing that they name counts as deleted', async () => {
    const { context } = late
    const { objects, db } = context
    const userId = newUser()
    await setPhone(context, { user_id: userId, phone: '0912345678' })
    await late.erase(userId)
    // As left by a restore of an older backup.
    const screenshot = screenshotKey(`${'7d'.repeat(16)}.png`)!
    await objects.put(screenshot, new Uint8Array(1), { contentType: 'image/png' })
    await db.sql`
      INSERT INTO feedback (user_id, category, description, status, screenshot_url, created_at, updated_at)
      VALUES (${userId}, 'a', 'b', 'new', ${screenshot}, now(), now())`
    const remaining = ['rows', 'buffer', 'objects'] as const
    await db.orm.insert(erasing).values({
      subject: userId,
      generation: 1,
      erasedAt: new Date(),
      erased: {},
      objects: [],
      trackers: [],
      remaining: [...remaining],
    })
    await db.sql`ALTER TABLE feedback RENAME TO elsewhere`
    try {
      await finishErasures(context)
    } finally {
      await db.sql`ALTER TABLE elsewhere RENAME TO feedback`
    }
    expect(await db.sql`SELECT remaining FROM erasing`).toMatchObject([{ remaining }])
    await finishErasures(context)
    expect(await objects.head(screenshot)).toBeNull()
    expect(await db.sql`SELECT FROM feedback WHERE user_id = ${userId}`).toHaveLength(0)
    expect(await db.sql`SELECT FROM erasing`).toHaveLength(0)
  })
})
