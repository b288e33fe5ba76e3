/** Consent and the participant status, and their effects. */
import { describe, expect, test } from 'bun:test'
import { participantStatusEndpoint, privacyEndpoint } from '#shared/contracts/profile.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { admin, checkIn, newPilgrimId, syncTrack } from '#tests/helpers/test-stack.ts'
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

    test('a pilgrim without consent, or withdrawn, leaves the live map at once, and is not back at once', async () => {
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
      // With the next full hour, which tests/tracking/presence.test.ts waits for by a clock of its own.
      if (new Date().getMinutes() < 59) expect(await shown(one)).toBe(false)
    }, 30_000)
  })

  test('points are not taken from who has taken the consent back, until it is given again', async () => {
    const [one, never] = [newPilgrimId(), newPilgrimId()]
    const track = (userId: string) =>
      syncTrack(stack, userId, [{ lat: 24.1, lng: 120.6, timestamp: Date.now() - 60_000 }])
    expect((await checkIn(stack, never)).status).toBe(202)
    await post(stack, 'privacy', { user_id: one })
    expect((await checkIn(stack, one)).status).toBe(202)
    await post(stack, 'privacy', { user_id: one, agreed: false })
    for (const send of [() => checkIn(stack, one), () => track(one)])
      expect(await sentenceOf(await send(), 403, 'forbidden')).toContain('taken back your consent')
    await post(stack, 'privacy', { user_id: one })
    expect((await checkIn(stack, one, { timestamp: Date.now() - 1_000 })).status).toBe(202)
    expect((await track(one)).status).toBe(200)
    expect((await profileOf(stack, one)).checkins).toBe(2)
  })

  test('an erased person is told so by every write, and begins anew by a consent', async () => {
    const userId = newPilgrimId()
    const point = { lat: 24.1, lng: 120.6, timestamp: Date.now() - 60_000 }
    const writes: Record<string, () => Promise<Response>> = {
      checkin: () => checkIn(stack, userId),
      'track/sync': () => syncTrack(stack, userId, [point]),
      'user/sync': () => post(stack, 'user/sync', { user_id: userId, display_name: 'A' }),
      'user/phone': () => post(stack, 'user/phone', { user_id: userId, phone: '0912345678' }),
      'participant-status': () => post(stack, 'participant-status', { user_id: userId, status: 'active' }),
      submit: () => post(stack, 'submit', { user_id: userId, survey: { q1: 'a' } }),
      feedback: () => post(stack, 'feedback', { user_id: userId, category: 'a', description: 'b' }),
      trackers: () => post(stack, 'trackers', { user_id: userId, label: 'a' }),
      shares: () => post(stack, 'shares', { user_id: userId }),
      'privacy, refused': () => post(stack, 'privacy', { user_id: userId, agreed: false }),
    }
    await checkIn(stack, userId, { timestamp: Date.now() - 5_000 })
    const erased = await stack.fetch(`/api/event/admin/users/${userId}`, {
      method: 'DELETE',
      headers: admin('owner'),
    })
    expect(erased.status).toBe(200)
    for (const [name, write] of Object.entries(writes)) {
      const answer = await write()
      expect({ name, status: answer.status }).toEqual({ name, status: 410 })
      expect(await sentenceOf(answer, 410, 'erased')).toContain('were deleted')
    }
    expect((await stack.fetch(`/api/event/user/${userId}`)).status).toBe(404)
    expect((await post(stack, 'privacy', { user_id: userId })).status).toBe(200)
    expect((await profileOf(stack, userId)).checkins).toBe(0)
    for (const [name, write] of Object.entries(writes)) {
      const { ok } = await write()
      expect({ name, ok }).toEqual({ name, ok: true })
    }
    // The last write took the consent back: others get the name and the level alone.
    expect((await profileOf(stack, userId)).checkins).toBe(0)
    expect((await profileOf(stack, userId, admin('owner'))).checkins).toBe(1)
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
