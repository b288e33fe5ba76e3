/**
 * A pilgrim whom nobody has heard of but by points in the buffer: every endpoint that takes a user id knows them. No
 * flush comes while this runs.
 */
import { expect, test } from 'bun:test'
import { z } from 'zod'
import { checkInEndpoint, dataEndpoint, trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { cardEndpoint, drawCardEndpoint } from '#shared/contracts/cards.ts'
import type { Endpoint } from '#shared/contracts/endpoint.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { submitFeedbackEndpoint, uploadScreenshotEndpoint } from '#shared/contracts/feedback.ts'
import { pushEndpoint } from '#shared/contracts/messages.ts'
import {
  participantStatusEndpoint,
  phoneEndpoint,
  photoCountEndpoint,
  privacyEndpoint,
  profileEndpoint,
  userSyncEndpoint,
} from '#shared/contracts/profile.ts'
import {
  assignRoleEndpoint,
  eraseUserEndpoint,
  rolesEndpoint,
  usersEndpoint,
  userStatusEndpoint,
} from '#shared/contracts/reports.ts'
import { submitEndpoint, surveyEndpoint } from '#shared/contracts/survey.ts'
import { exportUserEndpoint, userEndpoint } from '#shared/contracts/user-detail.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { lineUser } from '#tests/helpers/line-server.ts'
import { describeWorlds } from '#tests/helpers/open-test-stack.ts'
import { post, profileOf } from '#tests/helpers/pilgrim.ts'
import { admin, checkIn, newPilgrim, PLACE, syncTrack, type World } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'

const DAY = 86_400_000

type Case = (world: World, userId: string) => Promise<unknown>
const nameOf = ({ method, path }: Pick<Endpoint, 'method' | 'path'>): string => `${method} ${path}`

const as = (world: World, endpoint: Endpoint, path: string, body?: object) =>
  world.fetch(`/api/event/${path}`, {
    method: endpoint.method,
    headers: { ...admin('owner'), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

/** Writes of the pilgrim themselves: taken, and the check-in is still there. */
const written =
  (endpoint: Endpoint, fields: object): Case =>
  async (world, userId) => {
    const path = endpoint.path.replace('/api/event/', '')
    await dataOf(await post(world, path, { user_id: userId, ...fields }), endpoint)
    expect(await profileOf(world, userId)).toMatchObject({ checkins: 1 })
  }

const recipientsOf = async (world: World, body: object): Promise<number> =>
  (await dataOf(await as(world, pushEndpoint, 'push', { text: 'x', dry_run: true, ...body }), pushEndpoint))
    .recipients

/** The smallest picture there is. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

let people = 0x9_000_000

const CASES = new Map<Endpoint, Case>([
  [
    checkInEndpoint,
    async (world, userId) => {
      await dataOf(await checkIn(world, userId, { timestamp: Date.now() - 120_000 }), checkInEndpoint)
      expect(await profileOf(world, userId)).toMatchObject({ checkins: 2 })
    },
  ],
  [
    trackSyncEndpoint,
    async (world, userId) =>
      dataOf(await syncTrack(world, userId, [{ ...PLACE, timestamp: Date.now() }]), trackSyncEndpoint),
  ],
  [submitEndpoint, written(submitEndpoint, { q1: 'yes' })],
  [surveyEndpoint, written(surveyEndpoint, { q1: 'yes' })],
  [userSyncEndpoint, written(userSyncEndpoint, { display_name: 'Name' })],
  [phoneEndpoint, written(phoneEndpoint, { phone: '0912345678' })],
  [privacyEndpoint, written(privacyEndpoint, { agreed: true })],
  [participantStatusEndpoint, written(participantStatusEndpoint, { status: 'withdrawn' })],
  [submitFeedbackEndpoint, written(submitFeedbackEndpoint, { category: 'x', description: 'y' })],
  [
    uploadScreenshotEndpoint,
    async (world, userId) => {
      const headers = { 'X-Line-User-Id': userId }
      const upload = { method: 'POST', headers, body: PIXEL }
      await dataOf(await world.fetch('/api/event/feedback-upload', upload), uploadScreenshotEndpoint)
      expect(await profileOf(world, userId)).toMatchObject({ checkins: 1 })
    },
  ],
  [
    profileEndpoint,
    async (world, userId) => expect(await profileOf(world, userId)).toMatchObject({ userId, checkins: 1 }),
  ],
  [
    photoCountEndpoint,
    async (world, userId) =>
      expect(
        await dataOf(await world.fetch(`/api/event/photos/count?user_id=${userId}`), photoCountEndpoint),
      ).toEqual({ userId, photo_count: 0 }),
  ],
  [drawCardEndpoint, written(drawCardEndpoint, {})],
  [
    cardEndpoint,
    async (world, userId) => expect((await world.fetch(`/api/event/og/${userId}.png`)).status).toBe(200),
  ],
  [
    dataEndpoint,
    async (world, userId) => {
      const shown = async () =>
        (await (await as(world, dataEndpoint, 'data?limit=5000')).text()).includes(userId)
      await until(shown, { timeoutMs: 15_000, what: 'the pilgrim on the live map' })
    },
  ],
  [
    userEndpoint,
    async (world, userId) =>
      expect(
        await dataOf(await as(world, userEndpoint, `admin/users/${userId}`), userEndpoint),
      ).toMatchObject({
        userId,
        checkins: 1,
        pending: 1,
        stored_points: 0,
        phone: null,
        created_at: null,
        recent_checkins: [{ ...PLACE, in_range: true, pending: true }],
      }),
  ],
  [
    userStatusEndpoint,
    async (world, userId) => {
      const answer = await as(world, userStatusEndpoint, `admin/users/${userId}/status`, {
        status: 'completed',
      })
      await dataOf(answer, userStatusEndpoint)
      expect(await profileOf(world, userId)).toMatchObject({ participant_status: 'completed', checkins: 1 })
    },
  ],
  [
    exportUserEndpoint,
    async (world, userId) => {
      const path = `admin/users/${userId}/export`
      const all = (await (await as(world, exportUserEndpoint, path)).json()) as object
      expect(all).toMatchObject({
        gps_points: [],
        pending: [{ user_id: userId, kind: 'c', ...PLACE, in_range: true, clock_corrected: false }],
      })
      const gpx = await (await as(world, exportUserEndpoint, `${path}?format=gpx`)).text()
      expect([gpx.match(/<wpt /g)?.length, gpx.match(/<trkpt /g)?.length]).toEqual([1, 1])
    },
  ],
  [
    eraseUserEndpoint,
    async (world, userId) => {
      await dataOf(await as(world, eraseUserEndpoint, `admin/users/${userId}`), eraseUserEndpoint)
      await sentenceOf(await world.fetch(`/api/event/user/${userId}`), 404, 'not-found')
    },
  ],
  [
    assignRoleEndpoint,
    async (world, userId) => {
      const body = { user_id: userId, role: 'volunteer' }
      await dataOf(await as(world, assignRoleEndpoint, 'admin/roles', body), assignRoleEndpoint)
      const { items } = await dataOf(await as(world, rolesEndpoint, 'admin/roles?limit=200'), rolesEndpoint)
      expect(items.map((item) => item.userId)).toContain(userId)
      expect(await profileOf(world, userId)).toMatchObject({ checkins: 1 })
    },
  ],
  [
    usersEndpoint,
    async (world, userId) => {
      const list = async (query: string) =>
        dataOf(await as(world, usersEndpoint, `admin/users?${query}`), usersEndpoint)
      const mine = { userId, checkins: 1, participant_status: 'active', survey_completed: 0, pending: 1 }
      const found = await list(`search=${userId.slice(2).toUpperCase()}`)
      expect(found).toMatchObject({ items: [mine], next_cursor: null, pending: 1 })
      expect((await list(`search=no-${userId}`)).items).toEqual([])
      for (const sort of ['userId', 'km', 'checkins', 'last_seen'])
        for (const order of ['asc', 'desc']) {
          const all: string[] = []
          for (let cursor: string | null = ''; cursor !== null;) {
            const after: string = cursor === '' ? '' : `&cursor=${cursor}`
            const page = await list(`sort=${sort}&order=${order}&limit=7${after}`)
            all.push(...page.items.map((item) => item.userId))
            cursor = page.next_cursor
          }
          expect(all.filter((id) => id === userId)).toHaveLength(1)
          expect(new Set(all).size).toBe(all.length)
        }
    },
  ],
  [
    pushEndpoint,
    async (world) => {
      const [walker, late, volunteer] = [lineUser(people++), lineUser(people++), lineUser(people++)]
      const count = async () =>
        Promise.all(
          ['all', 'participants', 'volunteers', 'completed', 'inactive'].map((audience) =>
            recipientsOf(world, { audience }),
          ),
        )
      const role = { user_id: volunteer, role: 'volunteer' }
      await dataOf(await as(world, assignRoleEndpoint, 'admin/roles', role), assignRoleEndpoint)
      const [all, participants, volunteers, completed, inactive] = await count()
      await checkIn(world, walker)
      // Of the day before yesterday, sent only now.
      await syncTrack(world, late, [{ ...PLACE, timestamp: Date.now() - 2 * DAY }])
      await checkIn(world, volunteer)
      expect(await count()).toEqual([all! + 2, participants! + 3, volunteers!, completed!, inactive! + 1])
      expect(await recipientsOf(world, { user_ids: [walker] })).toBe(1)
    },
  ],
])

test('every endpoint that takes a user id has its case', () => {
  const takes = ({ caller, path, body }: Endpoint) =>
    caller !== 'none' ||
    path.includes(':userId') ||
    /"(user_ids?|userId)"/.test(JSON.stringify(z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' })))
  expect(ENDPOINTS.filter((endpoint) => takes(endpoint) && !CASES.has(endpoint)).map(nameOf)).toEqual([])
})

describeWorlds(
  'someone in the buffer only',
  (world) => {
    test.each(Array.from(CASES, ([endpoint, tried]) => [nameOf(endpoint), tried] as const))(
      'is known to %s',
      async (_, tried) => {
        const userId = newPilgrim()
        await dataOf(await checkIn(world, userId), checkInEndpoint)
        await tried(world, userId)
      },
      30_000,
    )
  },
  { EVENT_FLUSH_SECONDS: '3600' },
)
