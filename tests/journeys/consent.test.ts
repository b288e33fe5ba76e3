/** Consent and the participant status, and their effects. */
import { describe, expect, test } from 'bun:test'
import { privacyEndpoint } from '#shared/contracts/privacy.ts'
import { participantStatusEndpoint } from '#shared/contracts/profile.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { admin, checkIn, newPilgrimId } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { post, profileOf } from '#tests/helpers/pilgrim.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'

describeBothStacks('consent and status', (stack) => {
  describe('privacy', () => {
    test('consent has a version and a time, and can be withdrawn', async () => {
      const userId = newPilgrimId()
      const given = await dataOf(
        await post(stack, 'privacy', { user_id: userId, version: '2026-04' }),
        privacyEndpoint,
      )
      expect(given).toMatchObject({ privacy_agreed: true, version: '2026-04' })
      expect(Math.abs(Date.now() - Date.parse(given.privacy_agreed_at!))).toBeLessThan(10_000)
      expect(await profileOf(stack, userId)).toMatchObject({
        privacy_agreed: true,
        privacy_agreed_at: given.privacy_agreed_at,
        privacy_version: '2026-04',
      })
      const taken = await dataOf(
        await post(stack, 'privacy', { user_id: userId, agreed: false }),
        privacyEndpoint,
      )
      expect(taken).toMatchObject({ privacy_agreed: false, privacy_agreed_at: null })
      expect(await profileOf(stack, userId)).toMatchObject({ privacy_agreed: false, privacy_agreed_at: null })
    })

    test('a pilgrim without consent, or withdrawn, leaves the live map; one who returns is on it again', async () => {
      const shown = async (userId: string) => {
        const answer = await stack.fetch('/api/event/data?limit=5000', { headers: admin('owner') })
        const { data } = (await answer.json()) as { data: { points: { userId: string }[] } }
        return data.points.some((point) => point.userId === userId)
      }
      // Each replica of tracking reads it at its next refresh.
      const becomes = (userId: string, there: boolean) =>
        until(
          async () =>
            (await Promise.all([1, 2, 3, 4].map(() => shown(userId)))).every((seen) => seen === there),
          { timeoutMs: 10_000, what: `a pilgrim to be ${there ? 'on' : 'off'} the live map` },
        )
      const [one, other] = [newPilgrimId(), newPilgrimId()]
      await Promise.all([checkIn(stack, one), checkIn(stack, other)])
      await becomes(one, true)
      await becomes(other, true)
      await post(stack, 'privacy', { user_id: one, agreed: false })
      await post(stack, 'participant-status', { user_id: other, status: 'withdrawn' })
      await becomes(one, false)
      await becomes(other, false)
      await post(stack, 'privacy', { user_id: one })
      await becomes(one, true)
    }, 30_000)
  })

  describe('participant-status', () => {
    const set = (userId: string, status: unknown) =>
      post(stack, 'participant-status', { user_id: userId, status })

    test('active ↔ withdrawn, active → completed, and completed is final for the pilgrim', async () => {
      const userId = newPilgrimId()
      for (const status of ['active', 'withdrawn', 'active', 'completed', 'completed'])
        expect(await dataOf(await set(userId, status), participantStatusEndpoint)).toEqual({
          userId,
          participant_status: status as 'active',
        })
      for (const status of ['active', 'withdrawn'])
        expect(await sentenceOf(await set(userId, status), 409, 'conflict')).toContain(
          'completed the pilgrimage',
        )
      expect((await profileOf(stack, userId)).participant_status).toBe('completed')
    })

    test('withdrawn → completed is 409; an unknown status 400; the alias works', async () => {
      const userId = newPilgrimId()
      await set(userId, 'withdrawn')
      await sentenceOf(await set(userId, 'completed'), 409, 'conflict')
      await sentenceOf(await set(userId, 'gone'), 400, 'invalid-request')
      const answer = await post(stack, 'participant-status', {
        user_id: userId,
        participant_status: 'active',
      })
      expect((await dataOf(answer, participantStatusEndpoint)).participant_status).toBe('active')
    })

    test('an operator may set any status', async () => {
      const userId = newPilgrimId()
      await set(userId, 'completed')
      const answer = await stack.fetch(`/api/event/admin/users/${userId}/status`, {
        method: 'PUT',
        headers: admin('manager'),
        body: JSON.stringify({ status: 'active' }),
      })
      expect(answer.status).toBe(200)
      expect((await profileOf(stack, userId)).participant_status).toBe('active')
    })
  })
})
