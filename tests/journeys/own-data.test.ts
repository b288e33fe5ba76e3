/** Pilgrims read, export and erase their own data; nobody else does. */
import { expect, test } from 'bun:test'
import { eventConfigEndpoint } from '#shared/contracts/event-config.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import type { Role } from '#shared/contracts/fields.ts'
import { ownErasureEndpoint, ownWalkEndpoint } from '#shared/contracts/own-data.ts'
import { auditEndpoint } from '#shared/contracts/audit.ts'
import { checkInEndpoint, trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { post, profileOf, walk } from '#tests/helpers/pilgrim.ts'
import {
  admin,
  checkIn,
  flushed,
  newPilgrimId,
  PLACE,
  readAs,
  setStatus,
  syncTrack,
} from '#tests/helpers/test-stack.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { until } from '#tests/helpers/wait.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

let count = 0
/** An id as the app makes it. */
const appId = (): string => `w-${`${Date.now()}${count++}`.padStart(26, '0')}`

describeBothStacks('own data', (stack) => {
  const ownWalk = async (userId: string, day?: string) =>
    dataOf(await post(stack, 'me/walk', { user_id: userId, day }), ownWalkEndpoint)

  test('the way of all days adds up to the profile, before and after a flush', async () => {
    const userId = appId()
    const calendar = createCalendar('Asia/Taipei')
    // In the middle of two days, so that neither walk crosses midnight.
    const noon = calendar.dayStart(Date.now() - DAY) + 12 * HOUR
    const earlier = walk(10, noon - DAY)
    const later = walk(20, noon)
    await dataOf(await syncTrack(stack, userId, earlier), trackSyncEndpoint)
    await flushed(stack)
    await dataOf(await syncTrack(stack, userId, later), trackSyncEndpoint)
    const from = later.at(-1)!
    // By a vehicle: 2.2 km in three minutes.
    const ride = { lat: from.lat + 0.02, lng: from.lng, timestamp: from.timestamp + 180_000 }
    await dataOf(await checkIn(stack, userId, ride), checkInEndpoint)
    const profile = await profileOf(stack, userId)

    for (const flush of [false, true]) {
      if (flush) await flushed(stack)
      const read = await ownWalk(userId)
      expect(read.days.map(({ day }) => day)).toEqual([calendar.day(noon - DAY), calendar.day(noon)])
      expect(read.day).toBe(calendar.day(noon))
      expect(read.days.reduce((sum, { km }) => sum + km, 0)).toBeCloseTo(profile.km, 1)
      expect(read.days.reduce((sum, { carbon_kg: kg }) => sum + kg, 0)).toBeCloseTo(profile.carbon_kg, 3)
      const [onFoot, riding] = read.stretches.slice(-2)
      expect(onFoot).toMatchObject({ mode: 'walk', inferred: true, carbon_kg: 0 })
      expect(onFoot!.speed_kmh).toBeCloseTo(3.3, 1)
      expect(riding).toMatchObject({
        mode: 'bus',
        inferred: true,
        km: 2.22,
        speed_kmh: 44.5,
        carbon_kg: 1.057,
      })
      expect(read.line.at(-1)).toMatchObject({ lat: ride.lat, lng: ride.lng })
      expect(read.checkins).toEqual([
        { t: new Date(ride.timestamp).toISOString(), lat: ride.lat, lng: ride.lng, in_range: true },
      ])
      const first = await ownWalk(userId, calendar.day(noon - DAY))
      expect(first.line).toHaveLength(10)
      expect(first.checkins).toEqual([])
    }
  })

  test('a pilgrim without a point has no day', async () => {
    expect(await ownWalk(appId())).toMatchObject({
      days: [],
      day: null,
      line: [],
      stretches: [],
      checkins: [],
    })
  })

  test.each(['me/walk', 'me/export', 'me/erase'])('%s refuses an id that others may know', async (path) => {
    const userId = newPilgrimId()
    await dataOf(await checkIn(stack, userId), checkInEndpoint)
    const known = [userId, `U${'0'.repeat(32)}`, `w-${'0'.repeat(25)}`, `w-${'8'.repeat(26)}`]
    for (const id of known)
      await sentenceOf(await post(stack, path, { user_id: id, confirm: true }), 403, 'forbidden')
    expect((await profileOf(stack, userId)).checkins).toBe(1)
  })

  test('an export holds the points, as JSON and as GPX', async () => {
    const userId = appId()
    await sentenceOf(await post(stack, 'me/export', { user_id: userId }), 404, 'not-found')
    await dataOf(await checkIn(stack, userId), checkInEndpoint)
    const json = await post(stack, 'me/export', { user_id: userId })
    expect(json.headers.get('content-disposition')).toBe('attachment; filename="pilgrim.json"')
    expect(await json.text()).toContain(`"lat":${PLACE.lat}`)
    const gpx = await post(stack, 'me/export', { user_id: userId, format: 'gpx' })
    const file = await gpx.text()
    expect(file).toContain(`<wpt lat="${PLACE.lat}"`)
    // Files are passed on, and the id of an app is its key.
    expect(file).not.toContain(userId)
  })

  test('no answer tells a volunteer an id that opens a pilgrim’s own data', async () => {
    const [own, known] = [appId(), newPilgrimId()]
    for (const userId of [own, known]) {
      await dataOf(await checkIn(stack, userId), checkInEndpoint)
      await post(stack, 'user/sync', { user_id: userId, display_name: `Name of ${userId}` })
      await post(stack, 'feedback', { user_id: userId, category: 'bug', description: `About ${userId}` })
    }
    const read = async (path: string, role: Role): Promise<string> =>
      (await stack.fetch(path, { headers: admin(role) })).text()
    const readable = ENDPOINTS.filter(
      ({ method, access, path }) =>
        method === 'GET' && (access === 'volunteer' || access === 'optional') && !path.includes(':'),
    )
    const idsIn = (text: string) => new Set([...text.matchAll(/"userId":"([^"]*)"/g)].map(([, id]) => id!))
    const told = async (role: Role) => {
      const texts = await Promise.all(readable.map(({ path }) => read(path, role)))
      return idsIn(texts.join('\n'))
    }
    const telling = readable.map(({ path }) => path)
    expect(telling).toContain('/api/event/data')
    expect(telling).toContain('/api/event/feedback')
    // Their names stay. Each replica has a map of its own.
    for (const path of ['/api/event/data', '/api/event/feedback'])
      await until(
        async () => (await read(path, 'volunteer')).includes(`Name of ${own}`),
        `the name in ${path}`,
      )
    const [volunteer, manager] = [await told('volunteer'), await told('manager')]
    expect([volunteer.has(own), volunteer.has(known)]).toEqual([false, true])
    expect([manager.has(own), manager.has(known)]).toEqual([true, true])
  })

  test('an erasure needs a confirmation, erases, and is in the audit log without the person', async () => {
    const userId = appId()
    await dataOf(await checkIn(stack, userId), checkInEndpoint)
    await sentenceOf(await post(stack, 'me/erase', { user_id: userId }), 400, 'invalid-request')
    const erased = await dataOf(
      await post(stack, 'me/erase', { user_id: userId, confirm: true }),
      ownErasureEndpoint,
    )
    expect(erased.remaining).toEqual([])
    expect((await stack.fetch(`/api/event/user/${userId}`)).status).toBe(404)
    await sentenceOf(await post(stack, 'me/erase', { user_id: userId, confirm: true }), 404, 'not-found')
    const log = await dataOf(await readAs(stack, 'owner', 'admin/audit'), auditEndpoint)
    expect(log.items[0]).toMatchObject({ role: 'pilgrim', token_name: 'pilgrim', action: 'erase-user' })
    expect(JSON.stringify(log.items)).not.toContain(userId)
  })

  test('the configuration tells the identity, the status and the organisers’ message', async () => {
    const config = async () => dataOf(await stack.fetch('/api/event/config'), eventConfigEndpoint)
    expect(await config()).toMatchObject({
      identity: 'open',
      liff_id: null,
      emergency_number: '119',
      organiser_phone: null,
      status: 'active',
    })
    await setStatus(stack, { status: 'paused', message: 'Wait at the temple.' })
    expect(await config()).toMatchObject({ status: 'paused', message: 'Wait at the temple.' })
    await setStatus(stack, { status: 'active' })
    expect(Math.abs(Date.parse((await config()).as_of) - Date.now())).toBeLessThan(60_000)
  })

  test('an address that invents pilgrims and erases them is stopped', async () => {
    const statuses: number[] = []
    for (let i = 0; i < 21; i++)
      statuses.push((await post(stack, 'me/erase', { user_id: appId(), confirm: true })).status)
    expect(statuses.at(-1)).toBe(429)
    expect(new Set(statuses)).toEqual(new Set([404, 429]))
  })
})
