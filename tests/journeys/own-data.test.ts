/** Pilgrims can read, export and erase their own data; nobody else can. */
import { expect, test } from 'bun:test'
import { eventConfigEndpoint } from '#shared/contracts/event-config.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import type { Role } from '#shared/contracts/fields.ts'
import { ownErasureEndpoint, ownWalkEndpoint } from '#shared/contracts/own-data.ts'
import { ROLE_LEVEL } from '#shared/service/security/admin-auth.ts'
import { auditEndpoint } from '#shared/contracts/audit.ts'
import { usersEndpoint } from '#shared/contracts/reports.ts'
import { checkInEndpoint, trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { encodeCursor } from '#shared/service/http/pagination.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { post, profileOf, walk } from '#tests/helpers/pilgrim.ts'
import {
  admin,
  callAs,
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
/** An id in the app's format. */
const appId = (): string => `w-${`${Date.now()}${count++}`.padStart(26, '0')}`

describeBothStacks('own data', (stack) => {
  const ownWalk = async (userId: string, day?: string) =>
    dataOf(await post(stack, 'me/walk', { user_id: userId, day }), ownWalkEndpoint)

  test('no browser keeps an answer that an id opens', async () => {
    const userId = appId()
    await dataOf(await checkIn(stack, userId), checkInEndpoint)
    for (const path of [
      `user/${userId}`,
      ...['shares', 'trackers', 'push-subscriptions', 'photos/count'].map(
        (one) => `${one}?user_id=${userId}`,
      ),
    ]) {
      const { status, headers } = await stack.fetch(`/api/event/${path}`)
      expect({ path, status, kept: headers.get('cache-control') }).toEqual({
        path,
        status: 200,
        kept: 'no-store',
      })
    }
  })

  test('the way of all days adds up to the profile, before and after a flush', async () => {
    const userId = appId()
    const calendar = createCalendar('Asia/Taipei')
    // At noon of two days, so that neither walk crosses midnight.
    const noon = calendar.dayStart(Date.now() - DAY) + 12 * HOUR
    const earlier = walk(10, noon - DAY)
    const later = walk(20, noon)
    await dataOf(await syncTrack(stack, userId, earlier), trackSyncEndpoint)
    await flushed(stack)
    await dataOf(await syncTrack(stack, userId, later), trackSyncEndpoint)
    const from = later.at(-1)!
    // By vehicle: 2.2 km in three minutes.
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
    // Files are passed on, and an app id gives access.
    expect(file).not.toContain(userId)
  })

  test('an operator below owner reads a pseudonym in place of an id that opens a pilgrim’s own data', async () => {
    const [own, known] = [appId(), newPilgrimId()]
    for (const userId of [own, known]) {
      await dataOf(await checkIn(stack, userId), checkInEndpoint)
      await post(stack, 'user/sync', { user_id: userId, display_name: `Name of ${userId}` })
      await post(stack, 'feedback', { user_id: userId, category: 'bug', description: `About ${userId}` })
      await post(stack, 'submit', { user_id: userId, q1: 'yes' })
      await post(stack, 'emergency', { user_id: userId, pressed_at: new Date().toISOString() })
    }
    await flushed(stack)
    const textOf = async (answer: Promise<Response>): Promise<string> => (await answer).text()
    const read = (role: Role, path: string) => textOf(stack.fetch(path, { headers: admin(role) }))
    // Each replica has its own map.
    for (const path of ['/api/event/data', '/api/event/feedback'])
      await until(async () => (await read('owner', path)).includes(own), `the pilgrim in ${path}`)

    const [pseudonym] =
      /p-[0-9a-f]{42}/.exec(await read('manager', `/api/event/admin/users?search=${own}`)) ?? []
    expect(pseudonym).toBeDefined()
    const readable = (role: Role) =>
      ENDPOINTS.filter(
        ({ method, access }) =>
          method === 'GET' &&
          access !== 'public' &&
          (access === 'optional' || ROLE_LEVEL[access] <= ROLE_LEVEL[role]),
      ).flatMap(({ path }) => {
        const filled = path.replace(':userId', pseudonym!)
        // A page of one item has a cursor, which identifies that item.
        return filled.includes(':') || filled.endsWith('/stream') ? [] : [filled, `${filled}?limit=1`]
      })
    for (const role of ['manager', 'volunteer'] as const) {
      const texts = await Promise.all(
        readable(role).map(async (path) => [path, await read(role, path)] as const),
      )
      const csv = await read('manager', '/api/event/admin/surveys?format=csv')
      for (const [path, text] of [...texts, ['CSV', csv] as const])
        for (const part of [
          text,
          ...(text.match(/[\w-]{40,}/g) ?? []).map((word) => Buffer.from(word, 'base64url').toString()),
        ])
          expect({ path, told: part.includes(own) }).toEqual({ path, told: false })
      const telling = texts.filter(([, text]) => text.includes(pseudonym!)).map(([path]) => path)
      expect(telling).toContain('/api/event/data')
      expect(telling).toContain('/api/event/feedback')
      if (role === 'manager') expect(telling.length).toBeGreaterThan(8)
      // All other ids stay unchanged.
      expect(texts.some(([, text]) => text.includes(known))).toBe(true)
    }
    expect(await read('manager', `/api/event/admin/users?limit=1&search=${own}`)).toContain(pseudonym!)
    expect(await read('owner', `/api/event/admin/users/${pseudonym}`)).toContain(own)
    expect(
      (await callAs(stack, 'manager', 'POST', 'admin/roles', { user_id: pseudonym, role: 'volunteer' }))
        .status,
    ).toBe(200)
    expect(await read('owner', `/api/event/admin/users/${own}`)).toContain('"role":"volunteer"')
    expect(
      await textOf(callAs(stack, 'manager', 'PUT', `admin/users/${appId()}/status`, { status: 'active' })),
    ).not.toContain('w-')
    // It gives a non-operator no access.
    await sentenceOf(await post(stack, 'me/export', { user_id: pseudonym }), 403, 'forbidden')
    // A pilgrim cannot use an id that is interpreted as another's.
    const posing = `p-${'0'.repeat(42)}`
    await dataOf(await checkIn(stack, posing), checkInEndpoint)
    expect(await read('manager', `/api/event/admin/users/${posing}`)).toContain(posing)
  })

  test('an operator below owner finds out no part of such an id, by search, cursor or what everybody reads', async () => {
    const own = appId()
    await dataOf(await checkIn(stack, own), checkInEndpoint)
    const text = async (role: Role, path: string) => (await readAs(stack, role, path)).text()
    const [pseudonym] = /p-[0-9a-f]{42}/.exec(await text('manager', `admin/users?search=${own}`))!
    const part = own.slice(0, -1)
    for (const isStored of [false, true]) {
      if (isStored) await flushed(stack)
      expect(await text('owner', `admin/users?search=${part}`)).toContain(own)
      expect(await text('manager', `admin/users?search=${part}`)).toContain('"items":[]')
      for (const whole of [own, pseudonym]) {
        expect(await text('manager', `admin/users?search=${whole}`)).toContain(pseudonym)
        expect(await text('owner', `admin/users?search=${whole}`)).toContain(own)
      }
    }
    // Whether the pilgrim sorts after a position would reveal the id digit by digit.
    const forged = encodeCursor('users:userId:asc', [part, part])
    await sentenceOf(await readAs(stack, 'manager', `admin/users?cursor=${forged}`), 400, 'invalid-request')
    expect(await text('owner', `admin/users?limit=1&cursor=${forged}`)).toContain(own)
    const { next_cursor: next } = await dataOf(
      await readAs(stack, 'manager', 'admin/users?limit=1'),
      usersEndpoint,
    )
    expect((await readAs(stack, 'manager', `admin/users?limit=1&cursor=${next}`)).status).toBe(200)

    await setStatus(stack, { status: 'paused', message: `Ask ${pseudonym}` })
    const told = await (await stack.fetch('/api/event/config')).text()
    expect([told.includes(own), told.includes(pseudonym)]).toEqual([false, true])
    await setStatus(stack, { status: 'active' })
  })

  test('an operator below owner reads every list in an order that tells nothing of such ids, each row once', async () => {
    const ids = Array.from({ length: 12 }, appId)
    for (const [i, userId] of ids.entries()) {
      await post(stack, 'user/sync', { user_id: userId, display_name: `Row ${i}` })
      await post(stack, 'submit', { user_id: userId, q1: 'yes' })
      await callAs(stack, 'owner', 'POST', 'admin/roles', { user_id: userId, role: 'volunteer' })
      // Half of them are in the buffer, with equal figures.
      if (i % 2 === 0) await dataOf(await checkIn(stack, userId), checkInEndpoint)
    }
    interface Page {
      readonly items: readonly { readonly userId: string; readonly display_name: string | null }[]
      readonly next_cursor: string | null
    }
    /** The rows of these pilgrims, as they come page by page. */
    const rows = async (role: Role, path: string): Promise<readonly number[]> => {
      const found: number[] = []
      const listed = new Set<string>()
      let cursor: string | null = ''
      for (let pages = 0; cursor !== null; pages++) {
        expect(pages).toBeLessThan(100)
        const query: string = `${path}${path.includes('?') ? '&' : '?'}limit=3${cursor && `&cursor=${cursor}`}`
        const page = ((await (await readAs(stack, role, query)).json()) as { data: Page }).data
        for (const { userId, display_name: name } of page.items) {
          expect({ path, doubled: listed.has(userId) }).toEqual({ path, doubled: false })
          listed.add(userId)
          if (name?.startsWith('Row ') === true) found.push(Number(name.slice(4)))
        }
        cursor = page.next_cursor
      }
      return found
    }
    const inOrder = ids.map((_, i) => i)
    const sorted = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)
    const lists = [
      'admin/roles',
      'admin/surveys',
      'push/left-out?audience=all',
      'admin/users',
      'admin/users?search=Row',
      'admin/users?sort=checkins&order=asc',
    ]
    for (const path of lists) {
      const [owners, managers] = [await rows('owner', path), await rows('manager', path)]
      expect({ path, rows: sorted(owners) }).toEqual({ path, rows: inOrder })
      expect({ path, rows: sorted(managers) }).toEqual({ path, rows: inOrder })
      if (!path.includes('checkins')) expect({ path, owners }).toEqual({ path, owners: inOrder })
      const tied = [0, 1].map((half) => managers.filter((i) => i % 2 === half))
      for (const numbers of tied)
        expect({ path, isById: Bun.deepEquals(numbers, sorted(numbers)) }).toEqual({ path, isById: false })
    }
    expect(await rows('manager', 'admin/users?order=desc')).toEqual(
      (await rows('manager', 'admin/users')).toReversed(),
    )
    const csv = await stack.fetch('/api/event/admin/surveys', {
      headers: { ...admin('manager'), accept: 'text/csv' },
    })
    const inFile = [...(await csv.text()).matchAll(/"Row (\d+)"/g)].map(([, i]) => Number(i))
    expect(inFile).toEqual([...(await rows('manager', 'admin/surveys'))])
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
