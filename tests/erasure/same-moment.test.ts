/** Two concurrent changes of one person. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { assignRole } from '#services/admin/pilgrims/change-pilgrim.ts'
import { recordConsent } from '#services/survey-profile/record-consent.ts'
import { setPhone } from '#services/survey-profile/write-profile.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { OPERATOR } from '#tests/admin/backup-harness.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { type Late, newUser, OPEN_MS, openLate } from './late-writers.ts'

describeOnServers('at the same moment', () => {
  let late: Late
  let context: ServiceContext
  beforeAll(async () => {
    late = await openLate()
    context = late.context
  }, OPEN_MS)
  afterAll(() => late.close(), OPEN_MS)
  const erase = (userId: string) => late.erase(userId)

  test('after two consents the kv has the database’s state, whichever of them reaches it last', async () => {
    const { db, kv } = context
    for (const agreed of [true, false]) {
      const userId = newUser()
      let calls = 0
      const held: Kv = {
        ...kv,
        async hide(...args) {
          if (++calls === 1) await Bun.sleep(150)
          await kv.hide(...args)
        },
      }
      const slow = { ...context, kv: held }
      const first = recordConsent(slow, { user_id: userId, agreed: !agreed, version: '1' })
      await Bun.sleep(50)
      await Promise.all([first, recordConsent(slow, { user_id: userId, agreed, version: '1' })])
      const [row] = await db.sql<{ hidden: boolean }[]>`
          SELECT consent_withdrawn AS hidden FROM pilgrims WHERE user_id = ${userId}`
      expect({ agreed, hidden: (await kv.hidden(0)).includes(userId) }).toEqual({
        agreed,
        hidden: row!.hidden,
      })
      await erase(userId)
    }
  })

  test('nobody removes a role above their own, even while it is being assigned', async () => {
    const manager = { ...OPERATOR, role: 'manager', level: 2, name: 'bob' } as const
    for (let i = 0; i < 20; i++) {
      const userId = newUser()
      await setPhone(context, { user_id: userId, phone: '0912345678' })
      const give = assignRole(context, OPERATOR, { user_id: userId, role: 'owner' })
      const take = assignRole(context, manager, { user_id: userId, role: 'volunteer' })
      await Promise.allSettled([give, take])
      const [row] = await context.db.sql<{ role: string }[]>`
          SELECT role FROM role_assignments WHERE user_id = ${userId}`
      expect(row!.role).toBe('owner')
      await erase(userId)
    }
  })
})
