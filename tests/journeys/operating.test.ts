/** Operators' actions: role, pause, resume, end. A change applies to the very next request. */
import { expect, test } from 'bun:test'
import { endActivityEndpoint, roleEndpoint, setStatusEndpoint } from '#shared/contracts/operations.ts'
import type { Endpoint } from '#shared/contracts/endpoint.ts'
import { eventConfigEndpoint } from '#shared/contracts/event-config.ts'
import { mapEndpoint } from '#shared/contracts/map.ts'
import { profileEndpoint } from '#shared/contracts/profile.ts'
import { auditEndpoint } from '#shared/contracts/audit.ts'
import { timelineEndpoint } from '#shared/contracts/reports.ts'
import { lastHourEndpoint } from '#shared/contracts/supervision.ts'
import { checkInEndpoint, dataEndpoint, trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import {
  admin,
  checkIn,
  endActivity,
  flushed,
  healthOf,
  newPilgrimId,
  PLACE,
  readActivity,
  readAs,
  setStatus,
  syncTrack,
} from '#tests/helpers/test-stack.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { until } from '#tests/helpers/wait.ts'

describeBothStacks('an operator', (stack) => {
  const status = () => readActivity(stack)
  const set = async (body: object) => dataOf(await setStatus(stack, body), setStatusEndpoint)
  const point = () => ({ ...PLACE, timestamp: Date.now() - 1_000 })

  test.each([
    ['owner', 3],
    ['manager', 2],
    ['volunteer', 1],
  ] as const)('learns that they are %s', async (role, level) => {
    const headers = admin(role)
    const number = headers['X-Admin-Token'].split('-').at(-1)
    expect(await dataOf(await stack.fetch('/api/event/auth/role', { headers }), roleEndpoint)).toEqual({
      role,
      level,
      name: `${role}${number}`,
    })
  })

  test('the last hour: who was seen in it, and what was received since the service began', async () => {
    const hour = async () => dataOf(await readAs(stack, 'volunteer', 'admin/last-hour'), lastHourEndpoint)
    const before = await hour()
    const [seen, walks, long, silent, gone] = Array.from({ length: 5 }, newPilgrimId) as [
      ...[string, string, string, string, string],
    ]
    const at = (minutes: number) => [{ ...PLACE, timestamp: Date.now() - minutes * 60_000 }]
    expect((await checkIn(stack, seen)).status).toBe(202)
    expect((await syncTrack(stack, walks, at(5))).status).toBe(200)
    expect((await syncTrack(stack, long, at(62))).status).toBe(200)
    expect((await syncTrack(stack, silent, at(182))).status).toBe(200)
    expect((await syncTrack(stack, gone, at(25 * 60))).status).toBe(200)
    await flushed(stack)
    // Responses are cached for a second, and counted in ten-second steps.
    const after = await until(async () => {
      const { walking, received } = await hour()
      const isCounted = received !== null && received.points >= (before.received?.points ?? 0) + 5
      return isCounted && walking !== null && walking.as_of !== before.walking?.as_of && { walking, received }
    }, 'the check-in to be counted')
    // Pilgrims seen within the hour count as walking; all points were received in it.
    expect(after.walking.pilgrims - (before.walking?.pilgrims ?? 0)).toBe(2)
    expect(after.walking.checked_in - (before.walking?.checked_in ?? 0)).toBe(1)
    expect(after.walking.silent - (before.walking?.silent ?? 0)).toBe(1)
    expect(after.received.checkins - (before.received?.checkins ?? 0)).toBe(1)
    const { since, through, steps } = after.received
    expect(Date.parse(through) - Date.parse(since)).toBe(steps.length * 10_000)
  })

  test('pauses: check-ins and tracks are refused with the message, other requests work', async () => {
    const userId = newPilgrimId()
    await dataOf(await checkIn(stack, userId), checkInEndpoint)
    expect(await status()).toMatchObject({ status: 'active', message: null, ending: null })

    const paused = await set({ status: 'paused', message: 'Storm: stay where you are. 停' })
    expect(paused).toMatchObject({ status: 'paused', message: 'Storm: stay where you are. 停' })
    expect(paused.changed_by).toStartWith('manager')
    for (let i = 0; i < 4; i++) {
      const [checkedIn, synced] = [await checkIn(stack, userId), await syncTrack(stack, userId, [point()])]
      expect(await sentenceOf(checkedIn, 403, 'paused')).toBe('Storm: stay where you are. 停')
      expect(await sentenceOf(synced, 403, 'paused')).toBe('Storm: stay where you are. 停')
    }
    // Validation comes before the status of the event.
    await sentenceOf(await checkIn(stack, userId, { lat: 91 }), 400, 'invalid-request')
    expect(await status()).toEqual(paused)
    expect((await stack.fetch('/api/event/data')).status).toBe(200)
    await flushed(stack)
    const profile = await dataOf(await stack.fetch(`/api/event/user/${userId}`), profileEndpoint)
    expect(profile.checkins).toBe(1)
    expect((await healthOf(stack)).status).toBe('ok')
  })

  const read = async <E extends Endpoint>(endpoint: E) =>
    dataOf(await stack.fetch(endpoint.path, { headers: admin('owner') }), endpoint)
  const audited = async () =>
    (await read(auditEndpoint)).items.map(({ action, details }) => ({ action, details }))
  /** The timeline, whose responses are cached for a second. */
  const entries = async () => {
    await Bun.sleep(1_100)
    return (await read(timelineEndpoint)).entries.map(({ kind, message }) => ({ kind, message }))
  }
  const refusal = async () => sentenceOf(await checkIn(stack, newPilgrimId()), 403, 'paused')

  test('pausing again changes the message, if one is given, and nothing else', async () => {
    const before = await status()
    const [log, told] = [await audited(), await entries()]
    for (const same of [
      {},
      { message: null },
      { message: before.message },
      { message: ` ${before.message} ` },
    ])
      expect(await set({ status: 'paused', ...same })).toEqual(before)
    expect(await audited()).toEqual(log)
    expect(await refusal()).toBe(before.message!)

    expect(await set({ status: 'paused', message: 'Go inside at once.' })).toEqual({
      ...before,
      message: 'Go inside at once.',
    })
    expect(await refusal()).toBe('Go inside at once.')
    expect((await audited())[0]).toMatchObject({
      action: 'set-status-message',
      details: { status: 'paused', message: 'Go inside at once.' },
    })
    expect(await set({ status: 'paused', message: '' })).toEqual({ ...before, message: null })
    expect(await refusal()).toContain('paused')
    expect(await status()).toEqual({ ...before, message: null })
    expect(await entries()).toEqual(told)
  })

  test('a message in several languages is read in each, and the event’s own is the error', async () => {
    const messages = { 'zh-Hant': '雷雨將至，請留在廟裡避雨。', en: 'Wait at the temple.', ja: ' ' }
    const [own, english] = [messages['zh-Hant'], messages.en]
    const forReaders = { 'zh-Hant': own, 'zh-Hans': own, en: english, ja: english }
    const config = () => read(eventConfigEndpoint)
    const stored = { message: own, messages: { 'zh-Hant': own, en: english } }
    expect(await set({ status: 'paused', message: 'replaced', messages })).toMatchObject(stored)
    expect(await status()).toMatchObject(stored)
    expect((await audited())[0]).toMatchObject({ details: stored })
    expect(await refusal()).toBe(own)
    expect(await config()).toMatchObject({ message: own, messages: forReaders })
    const mapHas = (expected: object | null) =>
      until(async () => Bun.deepEquals((await read(mapEndpoint)).messages, expected), 'the map to follow')
    await mapHas(forReaders)
    // A client that sends one text replaces them all.
    expect(await set({ status: 'paused', message: 'Go home.' })).toMatchObject({ messages: null })
    expect(await config()).toMatchObject({ message: 'Go home.', messages: null })
    await mapHas(null)
  })

  test('resuming again changes nothing', async () => {
    const active = await set({ status: 'active' })
    const told = await entries()
    expect(told.at(-1)).toEqual({ kind: 'resumed', message: null })
    expect(await set({ status: 'active' })).toEqual(active)
    expect(await set({ status: 'active', message: 'Mind the heat.' })).toEqual({
      ...active,
      message: 'Mind the heat.',
    })
    expect(await entries()).toEqual(told)
    expect(await set({ status: 'paused' })).toMatchObject({ status: 'paused', message: null })
  })

  test('resumes: the very next request is accepted, with points recorded during the pause', async () => {
    const userId = newPilgrimId()
    for (let i = 0; i < 5; i++) {
      await set({ status: 'paused' })
      await sentenceOf(await checkIn(stack, userId), 403, 'paused')
      await set({ status: 'active' })
      const synced = await syncTrack(stack, userId, [{ ...point(), lat: 24 + i }])
      expect(await dataOf(synced, trackSyncEndpoint)).toMatchObject({ accepted: 1 })
    }
    await dataOf(await checkIn(stack, userId), checkInEndpoint)
  })

  // The last test: nothing reopens an ended event.
  test('ends: nothing more is accepted, accepted points are stored, reads work', async () => {
    const userId = newPilgrimId()
    await dataOf(await checkIn(stack, userId), checkInEndpoint)
    const end = async () => dataOf(await endActivity(stack), endActivityEndpoint)
    const ended = await end()
    expect(ended).toMatchObject({ status: 'ended', ending: { flush: 'done' } })
    for (let i = 0; i < 4; i++) {
      expect(await sentenceOf(await checkIn(stack, userId), 403, 'ended')).toContain('ended')
      await sentenceOf(await syncTrack(stack, userId, [point()]), 403, 'ended')
    }
    await sentenceOf(await setStatus(stack, { status: 'active' }), 409, 'conflict')
    expect(await end()).toMatchObject({ status: 'ended', changed_at: ended.changed_at })
    const profile = await dataOf(await stack.fetch(`/api/event/user/${userId}`), profileEndpoint)
    expect(profile.checkins).toBe(1)
    await dataOf(await stack.fetch('/api/event/data'), dataEndpoint)
    await flushed(stack)
    expect(await healthOf(stack)).toMatchObject({ status: 'ended', buffer_size: 0 })
  })
})
