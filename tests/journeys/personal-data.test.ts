/** A pilgrim's own data: complete export, complete erasure. */
import { expect, test } from 'bun:test'
import { profileEndpoint, photoCountEndpoint } from '#shared/contracts/profile.ts'
import { carbonEndpoint, eraseUserEndpoint, timelineEndpoint } from '#shared/contracts/reports.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import {
  admin,
  checkIn,
  flushed,
  newPilgrimId,
  PLACE,
  syncTrack,
  type TestStack,
} from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'

const MINUTE = 60_000

const post = (stack: TestStack, path: string, body: object) =>
  stack.fetch(`/api/event/${path}`, { method: 'POST', body: JSON.stringify(body) })

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
  }, 60_000)

  test('an erasure removes the person and leaves the event’s totals', async () => {
    const userId = await somebody(stack)
    await flushed(stack)
    const sums = async () => ({
      timeline: await dataOf(
        await stack.fetch('/api/event/admin/timeline', { headers: admin('owner') }),
        timelineEndpoint,
      ),
      carbon: await dataOf(
        await stack.fetch('/api/event/admin/carbon', { headers: admin('owner') }),
        carbonEndpoint,
      ),
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
      { timeoutMs: 10_000, what: 'sums of after the erasure', everyMs: 500 },
    )
    expect(after.timeline.hours).toEqual(before.timeline.hours)
    expect(after.timeline.days).toEqual(before.timeline.days)
    expect({ ...after.carbon, as_of: null }).toEqual({ ...before.carbon, as_of: null })
  }, 60_000)

  test('an erased pilgrim leaves the live map', async () => {
    const userId = newPilgrimId()
    await checkIn(stack, userId)
    const shown = async () => {
      const answer = await stack.fetch('/api/event/data?limit=5000', { headers: admin('owner') })
      return (await answer.text()).includes(userId)
    }
    // Each replica of tracking reads it at its next refresh.
    const becomes = (there: boolean) =>
      until(
        async () => (await Promise.all([shown(), shown(), shown(), shown()])).every((seen) => seen === there),
        {
          timeoutMs: 10_000,
          what: `the pilgrim to be ${there ? 'on' : 'off'} the live map`,
        },
      )
    await becomes(true)
    expect((await asOwner(stack, 'DELETE', userId)).status).toBe(200)
    await becomes(false)
    await post(stack, 'privacy', { user_id: userId })
    await checkIn(stack, userId, { lat: PLACE.lat + 1 })
    await becomes(true)
  }, 40_000)

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
  }, 60_000)
})
