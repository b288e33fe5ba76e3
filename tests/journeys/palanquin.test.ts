/** The palanquin: an operator names one pilgrim's device, and its place is on the public map until it is hidden. */
import { expect, test } from 'bun:test'
import { auditEndpoint } from '#shared/contracts/audit.ts'
import { type EventMap, mapEndpoint } from '#shared/contracts/map.ts'
import { palanquinEndpoint } from '#shared/contracts/reports.ts'
import { userEndpoint } from '#shared/contracts/user-detail.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import { admin, checkIn, newPilgrimId } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'

/** Alone: a crowd of five would not show it. */
const HERE = { lat: 24.152347, lng: 120.671239 }
const SHOWN = { lat: 24.15235, lng: 120.67124 }

describeBothStacks(
  'the palanquin',
  (stack) => {
    const put = (userId: string, palanquin: boolean, role: 'manager' | 'volunteer' = 'manager') =>
      stack.fetch(`/api/event/admin/users/${encodeURIComponent(userId)}/palanquin`, {
        method: 'PUT',
        headers: admin(role),
        body: JSON.stringify({ palanquin }),
      })
    const onMap = async () =>
      ((await dataOf(await stack.fetch('/api/event/map'), mapEndpoint)) as EventMap).palanquin
    const isNamed = async (userId: string) =>
      (
        await dataOf(
          await stack.fetch(`/api/event/admin/users/${userId}`, { headers: admin('manager') }),
          userEndpoint,
        )
      ).palanquin
    const gone = (what: string) =>
      until(async () => (await onMap()) === null, { timeoutMs: 30_000, everyMs: 500, what })
    const shown = (what: string) =>
      until(async () => (await onMap()) !== null, { timeoutMs: 30_000, everyMs: 500, what })

    test('is on the public map exactly, with its time, until the pilgrim pauses taking part', async () => {
      const userId = newPilgrimId()
      expect((await checkIn(stack, userId, HERE)).status).toBe(202)
      expect(await onMap()).toBeNull()
      expect(await dataOf(await put(userId, true), palanquinEndpoint)).toEqual({ userId, palanquin: true })
      await shown('the palanquin')
      expect(await onMap()).toMatchObject(SHOWN)
      expect(Date.now() - Date.parse((await onMap())!.seen_at)).toBeWithin(-1_000, 60_000)
      expect(await isNamed(userId)).toBe(true)
      expect((await post(stack, 'participant-status', { user_id: userId, status: 'withdrawn' })).status).toBe(
        200,
      )
      await gone('the palanquin to be hidden')
      const { items } = await dataOf(
        await stack.fetch('/api/event/admin/audit?limit=200', { headers: admin('owner') }),
        auditEndpoint,
      )
      expect(items.filter(({ action }) => action === 'set-palanquin')).toMatchObject([
        { details: { user_id: userId, palanquin: true } },
      ])
    }, 90_000)

    test('is one: who is named last, also of two at once; taken back or erased, it is nobody (long)', async () => {
      const ids = [newPilgrimId(), newPilgrimId()] as const
      for (const userId of ids) await checkIn(stack, userId, HERE)
      const answers = await Promise.all(ids.map((userId) => put(userId, true)))
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      const named = await Promise.all(ids.map(isNamed))
      expect(named.filter(Boolean)).toHaveLength(1)
      const [mine, other] = named[0] ? ids : [ids[1], ids[0]]
      // Taking the name back of somebody who has none changes nothing.
      expect((await put(other, false)).status).toBe(200)
      expect(await isNamed(mine)).toBe(true)
      expect((await put(other, true)).status).toBe(200)
      expect([await isNamed(mine), await isNamed(other)]).toEqual([false, true])
      await shown('the palanquin')
      const erased = await stack.fetch(`/api/event/admin/users/${other}`, {
        method: 'DELETE',
        headers: admin('owner'),
      })
      expect(erased.status).toBe(200)
      await gone('the erased palanquin')
    }, 90_000)

    test('nobody unknown, and not by a volunteer', async () => {
      await sentenceOf(await put(newPilgrimId(), true), 404, 'not-found')
      await sentenceOf(await put(newPilgrimId(), true, 'volunteer'), 403, 'forbidden')
    })
  },
  { EVENT_MAP_CROWD: '5' },
)
