/** The list of pilgrims is ordered by the displayed figures, which include pending points. */
import { expect, test } from 'bun:test'
import { sentenceOf } from '#tests/helpers/answers.ts'
import { callsOf } from '#tests/helpers/calls.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { MINUTE } from '#tests/helpers/pilgrim.ts'
import { newPilgrimId, PLACE, readAs } from '#tests/helpers/test-stack.ts'

/** A leg in degrees of longitude, about 2 km. */
const LEG = 0.02

describeBothStacks(
  'the order of pilgrims',
  (stack) => {
    test('goes by pending points too, in one page and in pages of one', async () => {
      const now = Date.now()
      const [stored, moved, fresh, idle] = Array.from({ length: 4 }, newPilgrimId) as [
        ...[string, string, string, string],
      ]
      const of = (userId: string) => callsOf(stack, 'owner', userId)
      const { listUsers, forceFlush, revokeTrackerOfUser } = of(idle)
      const walk = async (userId: string, legs: readonly number[]) => {
        for (const leg of legs)
          await of(userId).checkIn({
            ...PLACE,
            lng: PLACE.lng + leg * LEG,
            timestamp: now - (60 - leg) * 10 * MINUTE,
          })
      }
      await walk(stored, [0, 1, 2])
      await walk(moved, [0, 1])
      await of(idle).syncProfile({ display_name: 'Idle' })
      await of(moved).syncProfile({ display_name: 'Moved' })
      expect(await forceFlush()).toMatchObject({ finished: true })
      await walk(moved, [3, 4])
      await walk(fresh, [0, 1, 2, 3])

      const ranked = [moved, fresh, stored, idle]
      for (const sort of ['km', 'last_seen'] as const)
        for (const order of ['desc', 'asc'] as const) {
          const expected = order === 'desc' ? ranked : ranked.toReversed()
          const paged: string[] = []
          let cursor: string | null = null
          do {
            const page: Awaited<ReturnType<typeof listUsers>> = await listUsers({
              sort,
              order,
              limit: 1,
              cursor,
            })
            paged.push(...page.items.map(({ userId }) => userId))
            cursor = page.next_cursor
          } while (cursor !== null)
          const whole = (await listUsers({ sort, order })).items.map(({ userId }) => userId)
          expect({ sort, order, whole, paged }).toEqual({ sort, order, whole: expected, paged: expected })
        }
      const [first] = (await listUsers({ sort: 'checkins', limit: 1, search: 'MOVED' })).items
      expect(first).toMatchObject({ userId: moved, checkins: 4, pending: 2 })

      const listed = async (query: Parameters<typeof listUsers>[0]) =>
        (await listUsers(query)).items.map(({ userId }) => userId)
      // Everyone was seen nine to ten hours ago, and Idle never.
      const silent = { sort: 'last_seen', silent_hours: 9 } as const
      expect(await listed(silent)).toEqual([moved, fresh, stored])
      expect(await listed({ ...silent, order: 'asc' })).toEqual([stored, fresh, moved])
      expect(await listed({ ...silent, silent_hours: 10 })).toEqual([])
      const page = await listUsers({ ...silent, limit: 1 })
      expect(await listed({ ...silent, cursor: page.next_cursor })).toEqual([fresh, stored])
      expect(await listed({ ...silent, search: 'MOVED' })).toEqual([moved])
      await of(stored).setParticipantStatus({ status: 'withdrawn' })
      await of(moved).checkIn({ ...PLACE, timestamp: now })
      expect(await listed(silent)).toEqual([fresh])

      // Pilgrims with a tracker or a link, in each order, with and without pending points.
      const linked = { with_links: 'true' } as const
      expect(await listed(linked)).toEqual([])
      const tracker = await of(fresh).createTracker()
      await of(moved).createShare()
      const both = [fresh, moved].sort()
      expect(await listed(linked)).toEqual(both)
      expect((await listed({ ...linked, sort: 'km' })).sort()).toEqual(both)
      expect(await listed({ ...linked, sort: 'last_seen', order: 'asc' })).toEqual([fresh, moved])
      expect(await listed({ ...linked, search: 'MOVED' })).toEqual([moved])
      expect(await listed({ ...linked, ...silent })).toEqual([fresh])
      const half = await listUsers({ ...linked, limit: 1 })
      expect(await listed({ ...linked, cursor: half.next_cursor })).toEqual(both.slice(1))
      await revokeTrackerOfUser({ userId: fresh, id: tracker.id })
      expect(await listed(linked)).toEqual([moved])
      for (const [field, query] of [
        ['with_links', 'with_links=false'],
        ['with_links', 'with_links='],
        ['silent_hours', 'sort=km&silent_hours=3'],
        ['silent_hours', 'sort=last_seen&silent_hours=0'],
        ['silent_hours', 'silent_hours=3'],
      ] as const) {
        const refused = await readAs(stack, 'manager', `admin/users?${query}`)
        expect(await sentenceOf(refused, 400, 'invalid-request')).toContain(field)
      }
    })
  },
  { EVENT_FLUSH_SECONDS: '3600', EVENT_LIMIT_CHECKIN: '100' },
)
