/**
 * A stranger with open identity: a program that knows nothing but a pilgrim's LINE id, and writes in their name. It may
 * add to the pilgrim; it finds out nothing and takes nothing away.
 */
import { expect, test } from 'bun:test'
import { createShareEndpoint } from '#shared/contracts/shares.ts'
import { KG_PER_KM } from '#shared/core/rules/carbon.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { MINUTE, post, profileOf } from '#tests/helpers/pilgrim.ts'
import { admin, newPilgrimId, PLACE, syncTrack, type TestStack } from '#tests/helpers/test-stack.ts'

/** Every public answer about a pilgrim, as text. */
async function readingsOf(stack: TestStack, userId: string, reported: object): Promise<Map<string, string>> {
  const body = { user_id: userId, ...reported }
  const sync = await (await post(stack, 'user/sync', body)).text()
  const profile = JSON.stringify(await profileOf(stack, userId))
  const card = await stack.fetch(`/api/event/og/${userId}.png`, { method: 'HEAD' })
  const { id } = await dataOf(await post(stack, 'shares', { user_id: userId }), createShareEndpoint)
  const page = (await (await stack.fetch(`/s/${id}?lang=en`)).text()).replaceAll(id, '')
  return new Map([
    ['sync', sync],
    ['profile', profile],
    ['card', card.headers.get('etag') ?? String(card.status)],
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

      // The savings step at whole fives of kilograms: where is the step, when so many kilometres are added?
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
  },
  { EVENT_MAP_CROWD: '5' },
)
