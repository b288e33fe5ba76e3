/** The sweep of erasures runs at its start and again and again, one round at a time. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eraseUser } from '#services/admin/erasure/erase-pilgrim.ts'
import { createErasureSweep } from '#services/admin/erasure/retry-erasures.ts'
import { setPhone } from '#services/survey-profile/set-phone.ts'
import { ObjectsUnavailable } from '#shared/objects/objects.ts'
import { cardKey } from '#shared/objects/pictures.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { OPERATOR } from '#tests/admin/backup-harness.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { type Late, newUser, OPEN_MS, openLate } from './late-writers.ts'

describeOnServers('the sweep of erasures', () => {
  let late: Late
  beforeAll(async () => {
    late = await openLate()
  }, OPEN_MS)
  afterAll(() => late.close(), OPEN_MS)

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
    sweep.start()
    await until(async () => !(await there(left)), { timeoutMs: 15_000, what: 'the round at the start' })

    await card(unfinished)
    const failing: ServiceContext = {
      ...context,
      objects: { ...objects, delete: () => Promise.reject(new ObjectsUnavailable('away')) },
    }
    await eraseUser(failing, OPERATOR, unfinished, 'r')
    expect(await db.sql`SELECT FROM erasing`).toHaveLength(1)
    await until(async () => (await db.sql`SELECT FROM erasing`).length === 0, {
      timeoutMs: 15_000,
      what: 'a later round',
    })
    expect(await there(unfinished)).toBe(false)
    await sweep.stop()
  })
})
