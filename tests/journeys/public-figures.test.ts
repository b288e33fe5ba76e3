/**
 * What others see of a pilgrim during the event: rounded figures, no way, and nothing of pilgrims who may not
 * share; the palanquin exactly.
 */
import { describe, expect, test } from 'bun:test'
import { createShareEndpoint } from '#shared/contracts/shares.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { MINUTE, post, profileOf } from '#tests/helpers/pilgrim.ts'
import {
  admin,
  callAs,
  checkIn,
  flushed,
  newAppId,
  newPilgrimId,
  PLACE,
  readAs,
  syncTrack,
} from '#tests/helpers/test-stack.ts'
import { auditEndpoint } from '#shared/contracts/audit.ts'
import { type EventMap, mapEndpoint } from '#shared/contracts/map.ts'
import { palanquinEndpoint } from '#shared/contracts/reports.ts'
import { userEndpoint } from '#shared/contracts/user-detail.ts'
import { until } from '#tests/helpers/wait.ts'

/** Alone: a map for crowds of five would not show it. */
const HERE = { lat: 24.152347, lng: 120.671239 }
const SHOWN = { lat: 24.15235, lng: 120.67124 }

describeBothStacks(
  'figures that others get',
  (stack) => {
    const card = (userId: string) => stack.fetch(`/api/event/og/${userId}.png`)
    /** A walk of this many metres to the north in the last hours. */
    const walk = (userId: string, fromM: number, toM: number, startMs: number) =>
      syncTrack(
        stack,
        userId,
        Array.from({ length: (toM - fromM) / 100 + 1 }, (_, i) => ({
          lat: PLACE.lat + (fromM + i * 100) / 111_195,
          lng: PLACE.lng,
          timestamp: startMs + i * 1.5 * MINUTE,
        })),
      )
    const startMs = Date.now() - 6 * 60 * MINUTE
    /** Seventeen kilometres, to and fro within a cell: for others a claim walks none. */
    const lap = (userId: string) =>
      syncTrack(
        stack,
        userId,
        Array.from({ length: 171 }, (_, i) => ({
          lat: PLACE.lat + (i % 2) / 1_112,
          lng: PLACE.lng,
          timestamp: startMs + i * 1.5 * MINUTE,
        })),
      )

    test('are rounded down; the pilgrim’s app and operators get them exactly', async () => {
      const [userId, app] = [newPilgrimId(), newAppId()]
      for (const id of [userId, app]) await walk(id, 0, 12_300, startMs)
      await post(stack, 'user/phone', { user_id: userId, phone: '0912345678' })
      const seen = await profileOf(stack, userId)
      expect(seen).toMatchObject({ km: 10, carbon_saved_kg: 5, carbon_kg: 0, phone: '••••••••' })
      expect(seen.next_level).toMatchObject({ level: 2, km_needed: 5 })
      expect((await profileOf(stack, userId, admin('owner'))).km).toBeCloseTo(12.3, 1)
      expect((await profileOf(stack, app)).km).toBeCloseTo(12.3, 1)
    })

    test('the card does not change with the next points, until a figure does', async () => {
      const userId = newPilgrimId()
      await walk(userId, 0, 11_000, startMs)
      const first = (await card(userId)).headers.get('etag')
      expect(first).not.toBeNull()
      await walk(userId, 11_000, 13_000, startMs + 170 * MINUTE)
      await flushed(stack)
      expect((await card(userId)).headers.get('etag')).toBe(first)
      await walk(userId, 13_000, 16_000, startMs + 210 * MINUTE)
      expect((await card(userId)).headers.get('etag')).not.toBe(first)
    })

    test('who takes back the consent, or withdraws, has no card, and no figures for others', async () => {
      const ends = {
        consent: (userId: string) => post(stack, 'privacy', { user_id: userId, agreed: false }),
        withdrawal: (userId: string) =>
          post(stack, 'participant-status', { user_id: userId, status: 'withdrawn' }),
      }
      for (const end of Object.values(ends)) {
        const userId = newPilgrimId()
        await post(stack, 'user/sync', {
          user_id: userId,
          display_name: '阿明',
          picture_url: 'https://a.example/b.png',
        })
        await post(stack, 'privacy', { user_id: userId })
        for (let hour = 0; hour < 5; hour++)
          await checkIn(stack, userId, { timestamp: startMs - hour * 60 * MINUTE })
        await lap(userId)
        expect((await card(userId)).status).toBe(200)
        expect((await end(userId)).status).toBe(200)
        await sentenceOf(await card(userId), 404, 'not-found')
        await sentenceOf(await post(stack, 'og-image', { user_id: userId }), 404, 'not-found')
        expect(await profileOf(stack, userId)).toMatchObject({
          display_name: '阿明',
          level: 1,
          picture_url: null,
          checkins: 0,
          first_seen: null,
          last_seen: null,
        })
        expect(await profileOf(stack, userId, admin('owner'))).toMatchObject({ checkins: 5, level: 2 })
      }
    })

    test('never having been asked is not taking it back', async () => {
      const userId = newPilgrimId()
      expect((await checkIn(stack, userId)).status).toBe(202)
      expect((await profileOf(stack, userId)).checkins).toBe(1)
      expect((await card(userId)).status).toBe(200)
    })

    test('a link without the place shows the rounded figures, a live one the exact ones', async () => {
      const userId = newAppId()
      await walk(userId, 0, 12_300, startMs)
      const pageOf = async (body: object) => {
        const { id } = await dataOf(
          await post(stack, 'shares', { user_id: userId, ...body }),
          createShareEndpoint,
        )
        return (await stack.fetch(`/s/${id}?lang=en`)).text()
      }
      expect(await pageOf({})).toContain('10+ km, ')
      expect(await pageOf({})).not.toContain('12 km')
      expect(await pageOf({ live_hours: 1 })).toContain('12 km, ')
    })

    describe('the palanquin', () => {
      const put = (userId: string, palanquin: boolean, role: 'owner' | 'volunteer' = 'owner') =>
        callAs(stack, role, 'PUT', `admin/users/${encodeURIComponent(userId)}/palanquin`, { palanquin })
      const onMap = async () =>
        ((await dataOf(await stack.fetch('/api/event/map'), mapEndpoint)) as EventMap).palanquin
      const isNamed = async (userId: string) =>
        (await dataOf(await readAs(stack, 'owner', `admin/users/${userId}`), userEndpoint)).palanquin
      const gone = (what: string) =>
        until(async () => (await onMap()) === null, what, { timeoutMs: 30_000, everyMs: 500 })
      /** Its position appears on the map with its next report, once tracking knows of the change. */
      const reported = (userId: string) =>
        until(
          async () => {
            const taken = await syncTrack(stack, userId, [{ ...HERE, timestamp: Date.now() }])
            expect(taken.status).toBe(200)
            return (await onMap()) !== null
          },
          'the palanquin',
          { timeoutMs: 50_000, everyMs: 7_000 },
        )

      test('is on the public map exactly, with its time, until the pilgrim pauses taking part', async () => {
        const userId = newAppId()
        expect((await checkIn(stack, userId, HERE)).status).toBe(202)
        expect(await onMap()).toBeNull()
        expect(await dataOf(await put(userId, true), palanquinEndpoint)).toEqual({ userId, palanquin: true })
        await reported(userId)
        expect(await onMap()).toMatchObject(SHOWN)
        expect(Date.now() - Date.parse((await onMap())!.seen_at)).toBeWithin(-1_000, 60_000)
        expect(await isNamed(userId)).toBe(true)
        expect(
          (await post(stack, 'participant-status', { user_id: userId, status: 'withdrawn' })).status,
        ).toBe(200)
        await gone('the palanquin to be hidden')
        const { items } = await dataOf(await readAs(stack, 'owner', 'admin/audit?limit=200'), auditEndpoint)
        expect(items.filter(({ action }) => action === 'set-palanquin')).toMatchObject([
          { details: { user_id: userId, palanquin: true } },
        ])
      }, 90_000)

      test('is one: who is named last, also of two at once; taken back or erased, it is nobody (long)', async () => {
        const ids = [newAppId(), newAppId()] as const
        for (const userId of ids) await checkIn(stack, userId, HERE)
        const answers = await Promise.all(ids.map((userId) => put(userId, true)))
        expect(answers.map(({ status }) => status)).toEqual([200, 200])
        const named = await Promise.all(ids.map(isNamed))
        expect(named.filter(Boolean)).toHaveLength(1)
        const [mine, other] = named[0] ? ids : [ids[1], ids[0]]
        // Unsetting a pilgrim who is not the palanquin changes nothing.
        expect((await put(other, false)).status).toBe(200)
        expect(await isNamed(mine)).toBe(true)
        expect((await put(other, true)).status).toBe(200)
        expect([await isNamed(mine), await isNamed(other)]).toEqual([false, true])
        await reported(other)
        const erased = await callAs(stack, 'owner', 'DELETE', `admin/users/${other}`)
        expect(erased.status).toBe(200)
        await gone('the erased palanquin')
      }, 90_000)

      test('nobody unknown, and not by a volunteer', async () => {
        await sentenceOf(await put(newAppId(), true), 404, 'not-found')
        await sentenceOf(await put(newAppId(), true, 'volunteer'), 403, 'forbidden')
      })
    })
  },
  { EVENT_MAP_CROWD: '5' },
)
