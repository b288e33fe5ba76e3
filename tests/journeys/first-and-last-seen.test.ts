/**
 * `first_seen` and `last_seen` mean the same in every response; operators get the instant, others the day.
 */
import { describe, expect, test } from 'bun:test'
import {
  admin,
  flushed,
  newPilgrimId,
  PLACE,
  readAs,
  syncTrack,
  type TestStack,
} from '#tests/helpers/test-stack.ts'
import { usersEndpoint } from '#shared/contracts/reports.ts'
import { userSyncEndpoint } from '#shared/contracts/profile.ts'
import { userEndpoint } from '#shared/contracts/user-detail.ts'
import { userPointsEndpoint } from '#shared/contracts/user-history.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dataOf } from '#tests/helpers/answers.ts'
import { MINUTE, post, profileOf } from '#tests/helpers/pilgrim.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'

const calendar = createCalendar('Asia/Taipei')
const iso = (ms: number): string => new Date(ms).toISOString()
const OUTSIDE = { lat: -40, lng: 10 }

/** A box around Taiwan. */
const AREA = join(mkdtempSync(join(tmpdir(), 'event-area-')), 'area.geojson')
const box = [
  [119, 21],
  [123, 21],
  [123, 26],
  [119, 26],
  [119, 21],
]
writeFileSync(AREA, JSON.stringify({ type: 'Polygon', coordinates: [box] }))

const NEVER = { first_seen: null, last_seen: null }
/** Pilgrims of each kind: the sent points, and the resulting times. */
const KINDS: Readonly<Record<string, (stack: TestStack, userId: string, nowMs: number) => Promise<object>>> =
  {
    'without a point': async () => NEVER,
    'outside the area': async (stack, userId, nowMs) => {
      await syncTrack(stack, userId, [{ ...OUTSIDE, timestamp: nowMs - 5 * MINUTE }])
      return NEVER
    },
    'inside, and before and after it outside': async (stack, userId, nowMs) => {
      const times = [90, 60, 50, 40].map((minutes) => nowMs - minutes * MINUTE)
      const places = [OUTSIDE, PLACE, PLACE, OUTSIDE]
      await syncTrack(
        stack,
        userId,
        times.map((timestamp, i) => ({ ...places[i]!, timestamp })),
      )
      return { first_seen: iso(times[1]!), last_seen: iso(times[2]!) }
    },
  }

describeBothStacks(
  'first and last seen',
  (stack) => {
    const rowOf = async (userId: string) => {
      const path = `/api/event/admin/users?search=${userId}`
      const { items } = await dataOf(await stack.fetch(path, { headers: admin('manager') }), usersEndpoint)
      expect(items).toHaveLength(1)
      return items[0]!
    }

    describe.each(Object.entries(KINDS))('of a pilgrim %s', (_, sent) => {
      test('means the same in the profile, the list and the export, before the flush and after it', async () => {
        const userId = newPilgrimId()
        await post(stack, 'user/sync', { user_id: userId, display_name: 'somebody' })
        const seen = await sent(stack, userId, Date.now())
        const { last_seen } = { ...NEVER, ...seen }
        for (const isStored of [false, true]) {
          if (isStored) await flushed(stack)
          expect(await profileOf(stack, userId, admin('volunteer'))).toMatchObject(seen)
          expect((await rowOf(userId)).last_seen).toBe(last_seen)
          const detail = await readAs(stack, 'manager', `admin/users/${userId}`)
          expect(await detail.json()).toMatchObject({ data: seen })
        }
        const path = `/api/event/admin/users/${userId}/export`
        const all = (await (await stack.fetch(path, { headers: admin('owner') })).json()) as {
          readonly pilgrim_totals: readonly object[]
        }
        for (const row of all.pilgrim_totals) expect(row).toMatchObject(seen)
      })
    })

    test('of a pilgrim who was only outside the area, operators get the day and the reason', async () => {
      const [userId, timestamp] = [newPilgrimId(), Date.now() - MINUTE]
      await syncTrack(stack, userId, [{ ...OUTSIDE, timestamp }])
      await flushed(stack)
      const read = (path: string) => readAs(stack, 'manager', `admin/users/${path}`)
      const outside = { day: calendar.day(timestamp), left_out: { outside: 1 } }
      const points = await dataOf(await read(`${userId}/points`), userPointsEndpoint)
      expect(points).toMatchObject({ ...outside, days: [], items: [{ outcome: 'outside' }] })
      expect(await dataOf(await read(userId), userEndpoint)).toMatchObject({
        stored_points: 0,
        latest_day: { ...outside, points: 1 },
      })
    })

    test('is a day in the event’s time zone for the public', async () => {
      const userId = newPilgrimId()
      // At least one of the two days differs from the day in UTC.
      const times = [40, 28].map((hours) => Date.now() - hours * 60 * MINUTE)
      await syncTrack(
        stack,
        userId,
        times.map((timestamp) => ({ ...PLACE, timestamp })),
      )
      const days = { first_seen: calendar.day(times[0]!), last_seen: calendar.day(times[1]!) }
      expect(await profileOf(stack, userId)).toMatchObject(days)
      // With open identity no caller is verified as the pilgrim.
      expect(await profileOf(stack, userId, { Authorization: 'Bearer whatever' })).toMatchObject(days)
      const answer = await post(stack, 'user/sync', { user_id: userId, language: 'ja' })
      expect(await dataOf(answer, userSyncEndpoint)).toMatchObject(days)
      for (const role of ['volunteer', 'manager', 'owner'] as const)
        expect(await profileOf(stack, userId, admin(role))).toMatchObject({
          first_seen: iso(times[0]!),
          last_seen: iso(times[1]!),
        })
    })
  },
  { EVENT_AREA: AREA },
)
