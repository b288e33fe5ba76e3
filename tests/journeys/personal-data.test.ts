/** Personal data: consent, the participant status, complete export, complete erasure. */
import { describe, expect, test } from 'bun:test'
import {
  participantStatusEndpoint,
  photoCountEndpoint,
  privacyEndpoint,
  profileEndpoint,
} from '#shared/contracts/profile.ts'
import { carbonEndpoint, eraseUserEndpoint, timelineEndpoint } from '#shared/contracts/reports.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import {
  admin,
  callAs,
  checkIn,
  flushed,
  newPilgrimId,
  newAppId,
  PLACE,
  readAs,
  syncTrack,
  type TestStack,
} from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { MINUTE, post, profileOf } from '#tests/helpers/pilgrim.ts'

const asOwner = (stack: TestStack, method: string, path: string) =>
  stack.fetch(`/api/event/admin/users/${path}`, { method, headers: admin('owner') })

/** A pilgrim with a profile, survey, consent, feedback, stored points and a pending one. */
async function somebody(stack: TestStack): Promise<string> {
  const userId = newPilgrimId()
  const now = Date.now()
  await post(stack, 'user/sync', { user_id: userId, display_name: 'A & <B>', consumption: { water: 2 } })
  await post(stack, 'user/phone', { user_id: userId, phone: '0912345678' })
  await post(stack, 'privacy', { user_id: userId, version: '1' })
  await post(stack, 'submit', { user_id: userId, q1: 'private answer' })
  const track = Array.from({ length: 5 }, (_, i) => ({
    lat: PLACE.lat + i * 0.001,
    lng: PLACE.lng,
    timestamp: now - (20 - i) * MINUTE,
  }))
  await syncTrack(stack, userId, track)
  await checkIn(stack, userId, { timestamp: now - 10 * MINUTE })
  await flushed(stack)
  await checkIn(stack, userId, { timestamp: now - 5 * MINUTE })
  return userId
}

describeBothStacks('personal data', (stack) => {
  test('an export contains everything, as JSON and as GPX', async () => {
    const userId = await somebody(stack)
    const answer = await asOwner(stack, 'GET', `${userId}/export`)
    expect(answer.headers.get('content-disposition')).toContain('attachment')
    const all = (await answer.json()) as Record<string, Record<string, unknown>[]>
    expect(all.pilgrims![0]).toMatchObject({ display_name: 'A & <B>', phone: '0912345678' })
    expect(all.surveys![0]).toMatchObject({ answers: { q1: 'private answer' } })
    expect(all.consents).toHaveLength(1)
    expect(all.pilgrims![0]).not.toHaveProperty('searchable')
    for (const shown of [all.pilgrims![0]!.created_at, all.surveys![0]!.submitted_at])
      expect(shown).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    // The pending check-in is in one of the two, with or without a flush in between.
    expect(all.gps_points!.length + all.pending!.length).toBe(7)

    const gpx = await (await asOwner(stack, 'GET', `${userId}/export?format=gpx`)).text()
    expect(gpx).toStartWith('<?xml version="1.0" encoding="UTF-8"?>')
    expect(gpx.match(/<trkpt /g)!.length).toBe(7)
    expect(gpx.match(/<wpt /g)!.length).toBe(2)
  })

  test('an erasure removes the person and leaves the event’s totals', async () => {
    const userId = await somebody(stack)
    await flushed(stack)
    const sums = async () => ({
      timeline: await dataOf(await readAs(stack, 'owner', 'admin/timeline'), timelineEndpoint),
      carbon: await dataOf(await readAs(stack, 'owner', 'admin/carbon'), carbonEndpoint),
    })
    const before = await sums()
    const { erased, erased_at } = await dataOf(await asOwner(stack, 'DELETE', userId), eraseUserEndpoint)
    expect(erased).toMatchObject({ pilgrims: 1, surveys: 1, survey_history: 1, consents: 1, gps_points: 7 })

    await sentenceOf(await stack.fetch(`/api/event/user/${userId}`), 404, 'not-found')
    await sentenceOf(await asOwner(stack, 'GET', `${userId}/export`), 404, 'not-found')
    await sentenceOf(await asOwner(stack, 'DELETE', userId), 404, 'not-found')
    expect(
      (await dataOf(await stack.fetch(`/api/event/photos/count?user_id=${userId}`), photoCountEndpoint))
        .photo_count,
    ).toBe(0)
    // Cached answers depend on the last flush; one after the erasure includes it.
    const after = await until(
      async () => {
        const now = await sums()
        return [now.carbon, now.timeline].every(({ as_of }) => as_of! > erased_at) && now
      },
      'sums of after the erasure',
      { everyMs: 500 },
    )
    expect(after.timeline.hours).toEqual(before.timeline.hours)
    expect(after.timeline.days).toEqual(before.timeline.days)
    expect({ ...after.carbon, as_of: null }).toEqual({ ...before.carbon, as_of: null })
  })

  test('the mean of carbon is the total divided by everyone whom the total counts, with reports only, and erased', async () => {
    const reports = async (userId: string, given: object) =>
      expect((await post(stack, 'user/sync', { user_id: userId, ...given })).status).toBe(200)
    const carbon = async () => {
      // A response is cached for a second.
      await Bun.sleep(1_100)
      const answer = await readAs(stack, 'manager', 'admin/carbon')
      return dataOf(answer, carbonEndpoint)
    }
    const alone = (await carbon()).pilgrims
    const [walker, guest, driver, silent, gone] = Array.from({ length: 5 }, newPilgrimId)
    expect((await checkIn(stack, walker!)).status).toBe(202)
    await reports(walker!, { consumption: { water: 1 } })
    await reports(guest!, { consumption: { hotel: 1 } })
    await reports(driver!, { transport: { car: 10, walk: 2 } })
    // They add nothing to the total.
    await reports(silent!, { consumption: { water: 0, recycle: 0 }, transport: { car: 0 } })
    await reports(gone!, { consumption: { hotel: 2 } })
    await flushed(stack)
    const before = await carbon()
    expect(before.pilgrims).toBe(alone + 4)
    expect(before.mean_kg).toBeCloseTo(before.total_kg / before.pilgrims, 3)

    for (const userId of [gone!, silent!]) expect((await asOwner(stack, 'DELETE', userId)).status).toBe(200)
    expect({ ...(await carbon()), as_of: null }).toEqual({ ...before, as_of: null })
  })

  test('an erased pilgrim leaves the live map', async () => {
    const userId = newPilgrimId()
    await checkIn(stack, userId)
    const shown = async () => {
      const answer = await readAs(stack, 'owner', 'data?limit=5000')
      return (await answer.text()).includes(userId)
    }
    // Each replica of tracking reads it at its next refresh.
    const becomes = (there: boolean) =>
      until(
        async () => (await Promise.all([shown(), shown(), shown(), shown()])).every((seen) => seen === there),
        `the pilgrim to be ${there ? 'on' : 'off'} the live map`,
      )
    await becomes(true)
    expect((await asOwner(stack, 'DELETE', userId)).status).toBe(200)
    await becomes(false)
    await post(stack, 'privacy', { user_id: userId })
    await checkIn(stack, userId, { lat: PLACE.lat + 1 })
    await becomes(true)
  })

  test('a consent after an erasure starts a new person', async () => {
    const userId = await somebody(stack)
    await asOwner(stack, 'DELETE', userId)
    await sentenceOf(await checkIn(stack, userId), 410, 'erased')
    await post(stack, 'privacy', { user_id: userId })
    expect((await checkIn(stack, userId)).status).toBe(202)
    const profile = async () => dataOf(await stack.fetch(`/api/event/user/${userId}`), profileEndpoint)
    expect(await profile()).toMatchObject({ checkins: 1, km: 0, display_name: null, survey_completed: 0 })
    await flushed(stack)
    expect(await profile()).toMatchObject({ checkins: 1, km: 0, display_name: null, survey_completed: 0 })
  })

  describe('consent and status', () => {
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
        expect(await profileOf(stack, userId)).toMatchObject({
          privacy_agreed: false,
          privacy_agreed_at: null,
        })
      })

      test('a pilgrim without consent, or withdrawn, leaves the live map at once, and is not back at once', async () => {
        const shown = async (userId: string) => {
          const answer = await readAs(stack, 'owner', 'data?limit=5000')
          const { data } = (await answer.json()) as { data: { points: { userId: string }[] } }
          return data.points.some((point) => point.userId === userId)
        }
        // Each replica of tracking reads it at its next refresh.
        const becomes = (userId: string, there: boolean) =>
          until(
            async () =>
              (await Promise.all([1, 2, 3, 4].map(() => shown(userId)))).every((seen) => seen === there),
            `a pilgrim to be ${there ? 'on' : 'off'} the live map`,
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
        // At the next full hour, which tests/tracking/presence.test.ts reaches with a simulated clock.
        if (new Date().getMinutes() < 59) expect(await shown(one)).toBe(false)
      })
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
      const erased = await callAs(stack, 'owner', 'DELETE', `admin/users/${userId}`)
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
      // The last write withdrew the consent: others get only the name and the level.
      expect((await profileOf(stack, userId)).checkins).toBe(0)
      expect((await profileOf(stack, userId, admin('owner'))).checkins).toBe(1)
    })

    describe('participant-status', () => {
      const set = (userId: string, status: unknown) =>
        post(stack, 'participant-status', { user_id: userId, status })

      test('active ↔ withdrawn, active → completed, and completed is final for the pilgrim', async () => {
        const userId = newAppId()
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
        const answer = await callAs(stack, 'manager', 'PUT', `admin/users/${userId}/status`, {
          status: 'active',
        })
        expect(answer.status).toBe(200)
        expect((await profileOf(stack, userId)).participant_status).toBe('active')
      })
    })
  })
})
