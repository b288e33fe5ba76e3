/**
 * A stranger with open identity, who knows only a pilgrim's LINE id and writes for them. The stranger may add
 * data, but learns nothing and removes nothing.
 */
import { expect, test } from 'bun:test'
import { subscribeToPushEndpoint } from '#shared/contracts/push-subscriptions.ts'
import { createShareEndpoint, MAX_SHARES } from '#shared/contracts/shares.ts'
import { KG_PER_KM } from '#shared/core/rules/carbon.ts'
import { createTrackerEndpoint } from '#shared/contracts/trackers.ts'
import { mapEndpoint } from '#shared/contracts/map.ts'
import { userEndpoint } from '#shared/contracts/user-detail.ts'
import { palanquinEndpoint } from '#shared/contracts/reports.ts'
import { CLAIM_QUOTA } from '#shared/service/security/claims.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { MINUTE, post, profileOf } from '#tests/helpers/pilgrim.ts'
import { newDevice, newPushKeys } from '#tests/helpers/push-service.ts'
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
  type TestStack,
} from '#tests/helpers/test-stack.ts'
import { send } from '#tests/helpers/trackers.ts'
import { until } from '#tests/helpers/wait.ts'
import { traccar10 } from '#tests/tracking/tracker-bodies.ts'

/** Every public response about a pilgrim, as text. */
async function readingsOf(stack: TestStack, userId: string, reported: object): Promise<Map<string, string>> {
  const body = { user_id: userId, ...reported }
  const sync = await (await post(stack, 'user/sync', body)).text()
  const profile = JSON.stringify(await profileOf(stack, userId))
  let card: Response
  // A busy renderer has no card for some seconds.
  await until(async () => {
    card = await stack.fetch(`/api/event/og/${userId}.png`, { method: 'HEAD' })
    return card.status === 200
  }, 'the card')
  const { id } = await dataOf(await post(stack, 'shares', { user_id: userId }), createShareEndpoint)
  const page = (await (await stack.fetch(`/s/${id}?lang=en`)).text()).replaceAll(id, '')
  return new Map([
    ['sync', sync],
    ['profile', profile],
    ['card', card!.headers.get('etag')!],
    ['link', page],
  ])
}

describeBothStacks(
  'a stranger who writes in a pilgrim’s name',
  (stack) => {
    const walkOf = (userId: string, metres: number) =>
      syncTrack(
        stack,
        userId,
        Array.from({ length: Math.floor(metres / 100) + 1 }, (_, i) => ({
          lat: PLACE.lat + (i * 100) / 111_195,
          lng: PLACE.lng,
          timestamp: Date.now() - 6 * 60 * MINUTE + i * 1.5 * MINUTE,
        })),
      )

    test('finds no exact kilometres by reports that move a rounded figure', async () => {
      const victim = newPilgrimId()
      await walkOf(victim, 12_300)
      const exactKm = (await profileOf(stack, victim, admin('owner'))).km
      expect(exactKm).toBeCloseTo(12.3, 1)

      // The rounded savings step every five kilograms: find the step by adding kilometres.
      const savedWith = async (km: number) => {
        const answer = await post(stack, 'user/sync', { user_id: victim, transport: { walk: km } })
        expect(answer.status).toBe(200)
        return (await profileOf(stack, victim)).carbon_saved_kg
      }
      const stepKm = 5 / KG_PER_KM.bus
      const before = await savedWith(0)
      let found: number | null = null
      if ((await savedWith(stepKm)) !== before) {
        let [low, high] = [0, stepKm]
        while (high - low > 0.001) {
          const middle = (low + high) / 2
          if ((await savedWith(middle)) === before) low = middle
          else high = middle
        }
        found = (before + 5) / KG_PER_KM.bus - high
      }
      expect(found).toBeNull()
    })

    test('moves no public figure by any report', async () => {
      const victim = newPilgrimId()
      await walkOf(victim, 12_300)
      await post(stack, 'user/sync', { user_id: victim, consumption: { water: 0 }, transport: { walk: 0 } })
      const before = await readingsOf(stack, victim, {})
      for (const reported of [
        { transport: { walk: 4_000 } },
        { transport: { car: 300, hovercraft: 20 } },
        { consumption: { water: 90, recycle: 1_000, hotel: 7 } },
      ])
        expect(await readingsOf(stack, victim, reported)).toEqual(before)
      const { carbon_kg, carbon_saved_kg } = await profileOf(stack, victim, admin('owner'))
      // Operators see what was reported.
      expect(carbon_kg).toBeGreaterThan(100)
      expect(carbon_saved_kg).toBeGreaterThan(1_000)
    })

    test('moves no palanquin and hides none: only its tracker does, and the phone of an app’s id', async () => {
      const name = (userId: string, palanquin = true, tracker?: string) =>
        callAs(stack, 'owner', 'PUT', `admin/users/${userId}/palanquin`, { palanquin, tracker })
      const detailOf = async (userId: string) =>
        dataOf(await readAs(stack, 'owner', `admin/users/${userId}`), userEndpoint)
      const [victim, device] = [newPilgrimId(), newAppId()]
      for (const userId of [victim, device]) expect((await checkIn(stack, userId)).status).toBe(202)
      expect(await sentenceOf(await name(victim), 409, 'conflict')).toContain('EVENT_IDENTITY=line')
      // A pilgrim set as the palanquin earlier can be unset.
      expect((await name(victim, false)).status).toBe(200)
      expect(await dataOf(await name(device), palanquinEndpoint)).toEqual({ userId: device, palanquin: true })

      const { id, key } = await dataOf(
        await post(stack, 'trackers', { user_id: victim }),
        createTrackerEndpoint,
      )
      await sentenceOf(await name(device, true, id), 404, 'not-found')
      expect(await detailOf(device)).toMatchObject({
        palanquin: true,
        palanquin_tracker: null,
        known_to_others: false,
      })
      expect((await name(victim, true, id)).status).toBe(200)
      expect(await detailOf(device)).toMatchObject({ palanquin: false })
      expect(await detailOf(victim)).toMatchObject({
        palanquin: true,
        palanquin_tracker: id,
        known_to_others: true,
      })
      const latOnMap = async () =>
        (await dataOf(await stack.fetch('/api/event/map'), mapEndpoint)).palanquin?.lat ?? null
      const report = async (lat: number) =>
        expect((await stack.fetch(`/api/event/ingest/${key}/osmand?lat=${lat}&lon=120.5`)).status).toBe(200)
      await until(
        async () => {
          await report(24.1)
          return (await latOnMap()) === 24.1
        },
        'the place of the tracker',
        { timeoutMs: 30_000, everyMs: 2_000 },
      )
      // A stranger neither moves it nor removes it from the map.
      expect((await checkIn(stack, victim, { lat: 23.5, lng: 120.3 })).status).toBe(202)
      expect(
        (await syncTrack(stack, victim, [{ lat: 23.5, lng: 120.3, timestamp: Date.now() }])).status,
      ).toBe(200)
      const hide = { user_id: victim, status: 'withdrawn' }
      expect((await post(stack, 'participant-status', hide)).status).toBe(200)
      expect((await post(stack, 'privacy', { user_id: victim, agreed: false })).status).toBe(200)
      // The app is asked to send again, because consent may be given again.
      expect((await stack.fetch(`/api/event/ingest/${key}/osmand?lat=24.2&lon=120.5`)).status).toBe(503)
      const seen = new Set<number | null>()
      await until(async () => seen.add(await latOnMap()).has(24.2), 'the next place of the tracker', {
        timeoutMs: 30_000,
      })
      expect([...seen]).toEqual([24.1, 24.2])
      expect((await name(victim, false)).status).toBe(200)
    })

    test('pins nobody to a place by a time that lies ahead', async () => {
      const userId = newPilgrimId()
      const [there, here] = [
        { lat: 23.57, lng: 120.3 },
        { lat: 24.15, lng: 120.67 },
      ]
      const taken = await syncTrack(stack, userId, [{ ...there, timestamp: Date.now() + 290_000 }])
      expect(taken.status).toBe(200)
      expect((await checkIn(stack, userId, here)).status).toBe(202)
      const placeOf = async () => {
        const answer = await readAs(stack, 'owner', 'data?limit=5000')
        const { data } = (await answer.json()) as { data: { points: { userId: string; lat: number }[] } }
        return data.points.find((point) => point.userId === userId)?.lat
      }
      await until(async () => (await placeOf()) === here.lat, 'the place of the check-in')
    })

    test('ends no recording: a refused consent destroys no key and no link, and its next grant undoes it', async () => {
      const victim = newPilgrimId()
      await post(stack, 'privacy', { user_id: victim })
      const { key } = await dataOf(await post(stack, 'trackers', { user_id: victim }), createTrackerEndpoint)
      const { id } = await dataOf(await post(stack, 'shares', { user_id: victim }), createShareEndpoint)
      const track = (agoMs: number) =>
        send(stack, key, traccar10({ ...PLACE, ms: Date.now() - agoMs, speedMs: 1 }))
      const link = async () => (await stack.fetch(`/s/${id}`)).status
      expect([(await track(120_000)).status, await link()]).toEqual([200, 200])

      const refusals = [
        () => post(stack, 'privacy', { user_id: victim, agreed: false }),
        () => post(stack, 'participant-status', { user_id: victim, status: 'withdrawn' }),
      ]
      for (const refuse of refusals) {
        expect((await refuse()).status).toBe(200)
        expect(await link()).toBe(410)
      }
      // The app keeps its recorded points, and sends them again.
      await sentenceOf(await track(60_000), 503, 'unavailable')
      await sentenceOf(await checkIn(stack, victim), 403, 'forbidden')

      expect((await post(stack, 'privacy', { user_id: victim })).status).toBe(200)
      await post(stack, 'participant-status', { user_id: victim, status: 'active' })
      expect([(await track(60_000)).status, await link()]).toEqual([200, 200])
    })

    test('completes nobody for good; an operator does', async () => {
      const victim = newPilgrimId()
      const set = (status: string) => post(stack, 'participant-status', { user_id: victim, status })
      for (const status of [
        'completed',
        'completed',
        'active',
        'completed',
        'withdrawn',
        'active',
        'completed',
      ])
        expect((await set(status)).status).toBe(200)
      const byOperator = await callAs(stack, 'manager', 'PUT', `admin/users/${victim}/status`, {
        status: 'completed',
      })
      expect(byOperator.status).toBe(200)
      await sentenceOf(await set('active'), 409, 'conflict')
    })

    test('fills no quota of links, and neither changes, lists nor ends one', async () => {
      const victim = newPilgrimId()
      const make = async (body: object = {}) =>
        dataOf(await post(stack, 'shares', { user_id: victim, ...body }), createShareEndpoint)
      const { id } = await make()
      for (let i = 0; i < MAX_SHARES; i++) expect((await make()).id).toBe(id)
      const named = await make({ show_name: true })
      expect(named.id).not.toBe(id)
      const path = `/api/event/shares/${id}?user_id=${victim}`
      await sentenceOf(await stack.fetch(path, { method: 'DELETE' }), 403, 'forbidden')
      const change = await stack.fetch(`/api/event/shares/${id}`, {
        method: 'PATCH',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ user_id: victim, show_name: true }),
      })
      await sentenceOf(change, 403, 'forbidden')
    })

    test('measures nobody by points that it puts between theirs', async () => {
      const victim = newPilgrimId()
      await walkOf(victim, 12_300)
      const before = await readingsOf(stack, victim, {})
      await flushed(stack)
      expect(await readingsOf(stack, victim, {})).toEqual(before)
      // 40 km out and back: without the rule it would show how far the point is from its neighbours.
      for (const agoMinutes of [359.3, 300.7]) {
        const between = { ...PLACE, lat: PLACE.lat + 0.3, timestamp: Date.now() - agoMinutes * MINUTE }
        expect((await syncTrack(stack, victim, [between])).status).toBe(200)
        expect(await readingsOf(stack, victim, {})).toEqual(before)
        await flushed(stack)
        expect(await readingsOf(stack, victim, {})).toEqual(before)
      }
      // The pilgrim's own walk continues, and is visible at once.
      const on = Array.from({ length: 41 }, (_, i) => ({
        lat: PLACE.lat + (12_300 + i * 100) / 111_195,
        lng: PLACE.lng,
        timestamp: Date.now() - 60 * MINUTE + i * 1.2 * MINUTE,
      }))
      expect((await syncTrack(stack, victim, on)).status).toBe(200)
      expect((await profileOf(stack, victim)).km).toBe(15)
    })

    test('neither reads, removes nor pushes out a device', async () => {
      const victim = newPilgrimId()
      const add = (device: object) => post(stack, 'push-subscriptions', { user_id: victim, ...device })
      const newOne = () => newDevice('https://fcm.googleapis.com/fcm/send/').subscription
      const register = () => add(newOne())
      const first = newOne()
      const again = () => add(first)
      const { id } = await dataOf(await again(), subscribeToPushEndpoint)
      const path = (end: string) => `/api/event/push-subscriptions${end}?user_id=${victim}`
      await sentenceOf(await stack.fetch(path('')), 403, 'forbidden')
      await sentenceOf(await stack.fetch(path(`/${id}`), { method: 'DELETE' }), 403, 'forbidden')
      // A stranger alone would need days to fill the quota. Known devices may be added any number of
      // times.
      for (let i = 1; i < CLAIM_QUOTA.max; i++) expect((await register()).status).toBe(200)
      await sentenceOf(await register(), 429, 'rate-limited')
      for (let i = 0; i < CLAIM_QUOTA.max; i++) expect((await again()).status).toBe(200)
    })

    test('fills no quota of trackers at once', async () => {
      const victim = newPilgrimId()
      const make = () => post(stack, 'trackers', { user_id: victim })
      for (let i = 0; i < CLAIM_QUOTA.max; i++) expect((await make()).status).toBe(200)
      await sentenceOf(await make(), 429, 'rate-limited')
    })
  },
  { EVENT_MAP_CROWD: '5', ...newPushKeys() },
)
