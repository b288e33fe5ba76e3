/** The list of pilgrims is in the order of the figures that it shows, which include pending points. */
import { expect, test } from 'bun:test'
import { usersEndpoint } from '#shared/contracts/reports.ts'
import { createTrackerEndpoint } from '#shared/contracts/trackers.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { MINUTE, post } from '#tests/helpers/pilgrim.ts'
import { admin, callAs, checkIn, healthOf, newPilgrimId, PLACE, readAs } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'

/** Degrees of longitude of a leg: about 2 km. */
const LEG = 0.02

describeBothStacks(
  'the order of pilgrims',
  (stack) => {
    test('goes by pending points too, in one page and in pages of one', async () => {
      const now = Date.now()
      const walk = async (userId: string, legs: readonly number[]) => {
        for (const leg of legs) {
          const place = { ...PLACE, lng: PLACE.lng + leg * LEG, timestamp: now - (60 - leg) * 10 * MINUTE }
          expect((await checkIn(stack, userId, place)).status).toBe(202)
        }
      }
      const [stored, moved, fresh, idle] = Array.from({ length: 4 }, newPilgrimId) as [
        string,
        string,
        string,
        string,
      ]
      await walk(stored, [0, 1, 2])
      await walk(moved, [0, 1])
      await post(stack, 'user/sync', { user_id: idle, display_name: 'Idle' })
      await post(stack, 'user/sync', { user_id: moved, display_name: 'Moved' })
      const forced = await callAs(stack, 'owner', 'POST', 'admin/flush')
      expect(forced.status).toBe(200)
      await until(async () => (await healthOf(stack)).buffer_size === 0, 'the flush')
      await walk(moved, [3, 4])
      await walk(fresh, [0, 1, 2, 3])

      const list = async (query: string) => {
        const answer = await readAs(stack, 'manager', `admin/users?${query}`)
        return dataOf(answer, usersEndpoint)
      }
      const ranked = [moved, fresh, stored, idle]
      for (const sort of ['km', 'last_seen'])
        for (const order of ['desc', 'asc']) {
          const expected = order === 'desc' ? ranked : ranked.toReversed()
          const paged: string[] = []
          for (let cursor = ''; ;) {
            const page = await list(`sort=${sort}&order=${order}&limit=1${cursor}`)
            paged.push(...page.items.map(({ userId }) => userId))
            if (page.next_cursor === null) break
            cursor = `&cursor=${page.next_cursor}`
          }
          const whole = (await list(`sort=${sort}&order=${order}`)).items.map(({ userId }) => userId)
          expect({ sort, order, whole, paged }).toEqual({ sort, order, whole: expected, paged: expected })
        }
      const [first] = (await list('sort=checkins&limit=1&search=MOVED')).items
      expect(first).toMatchObject({ userId: moved, checkins: 4, pending: 2 })

      // Everybody was seen nine to ten hours ago, and Idle never.
      const silent = async (query: string) => {
        const page = await list(`sort=last_seen&silent_hours=${query}`)
        return page.items.map(({ userId }) => userId)
      }
      expect(await silent('9')).toEqual([moved, fresh, stored])
      expect(await silent('9&order=asc')).toEqual([stored, fresh, moved])
      expect(await silent('10')).toEqual([])
      const page = await list('sort=last_seen&silent_hours=9&limit=1')
      expect(await silent(`9&cursor=${page.next_cursor}`)).toEqual([fresh, stored])
      expect(await silent('9&search=MOVED')).toEqual([moved])
      await post(stack, 'participant-status', { user_id: stored, status: 'withdrawn' })
      expect((await checkIn(stack, moved, { ...PLACE, timestamp: now })).status).toBe(202)
      expect(await silent('9')).toEqual([fresh])

      // Who has a tracker or a link, in each order, and whether or not points of theirs wait.
      const linked = async (query: string) => {
        const page = await list(`with_links=true${query}`)
        return page.items.map(({ userId }) => userId)
      }
      expect(await linked('')).toEqual([])
      const tracker = await dataOf(await post(stack, 'trackers', { user_id: fresh }), createTrackerEndpoint)
      await post(stack, 'shares', { user_id: moved })
      const both = [fresh, moved].sort()
      expect(await linked('')).toEqual(both)
      expect((await linked('&sort=km')).sort()).toEqual(both)
      expect(await linked('&sort=last_seen&order=asc')).toEqual([fresh, moved])
      expect(await linked('&search=MOVED')).toEqual([moved])
      expect(await linked('&sort=last_seen&silent_hours=9')).toEqual([fresh])
      const half = await list('with_links=true&limit=1')
      expect(await linked(`&cursor=${half.next_cursor}`)).toEqual(both.slice(1))
      const revoke = `/api/event/admin/users/${fresh}/trackers/${tracker.id}`
      expect((await stack.fetch(revoke, { method: 'DELETE', headers: admin('manager') })).status).toBe(200)
      expect(await linked('')).toEqual([moved])
      for (const query of ['with_links=false', 'with_links=']) {
        const refused = await readAs(stack, 'manager', `admin/users?${query}`)
        expect(await sentenceOf(refused, 400, 'invalid-request')).toContain('with_links')
      }
      for (const query of ['sort=km&silent_hours=3', 'sort=last_seen&silent_hours=0', 'silent_hours=3']) {
        const refused = await readAs(stack, 'manager', `admin/users?${query}`)
        expect(await sentenceOf(refused, 400, 'invalid-request')).toContain('silent_hours')
      }
    })
  },
  { EVENT_FLUSH_SECONDS: '3600', EVENT_LIMIT_CHECKIN: '100' },
)
