/**
 * A pilgrim known only by pending points: every endpoint that takes a user id knows them. No flush runs during this
 * test.
 */
import { beforeAll, expect, test } from 'bun:test'
import webPush from 'web-push'
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
  profileEndpoint,
  userSyncEndpoint,
  photoCountEndpoint,
  privacyEndpoint,
} from '#shared/contracts/profile.ts'
import {
  assignRoleEndpoint,
  eraseUserEndpoint,
  palanquinEndpoint,
  rolesEndpoint,
  usersEndpoint,
  userStatusEndpoint,
} from '#shared/contracts/reports.ts'
import { submitEndpoint, surveyEndpoint } from '#shared/contracts/survey.ts'
import { exportUserEndpoint, userEndpoint } from '#shared/contracts/user-detail.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { lineUser } from '#tests/helpers/line-server.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { post, profileOf } from '#tests/helpers/pilgrim.ts'
import {
  checkIn,
  healthOf,
  newAppId,
  PLACE,
  syncTrack,
  type TestStack,
  admin,
} from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { createECDH } from 'node:crypto'
import { ownErasureEndpoint, ownExportEndpoint, ownWalkEndpoint } from '#shared/contracts/own-data.ts'
import {
  listPushSubscriptionsEndpoint,
  subscribeToPushEndpoint,
  unsubscribeFromPushEndpoint,
} from '#shared/contracts/push-subscriptions.ts'
import {
  changeShareEndpoint,
  createShareEndpoint,
  listSharesEndpoint,
  revokeShareEndpoint,
} from '#shared/contracts/shares.ts'
import {
  createTrackerEndpoint,
  listTrackersEndpoint,
  revokeTrackerEndpoint,
} from '#shared/contracts/trackers.ts'
import {
  revokeSharesOfUserEndpoint,
  revokeTrackerOfUserEndpoint,
  userMessagesEndpoint,
  userPointsEndpoint,
} from '#shared/contracts/user-history.ts'

/**
 * Cases of a pilgrim known only by pending points: their own data, their links and tracker keys, and an operator's look
 * at their points.
 */
type Case = (stack: TestStack, userId: string) => Promise<unknown>

/** Calls an endpoint as an owner. */
const as = (stack: TestStack, endpoint: Endpoint, path: string, body?: object) =>
  stack.fetch(`/api/event/${path}`, {
    method: endpoint.method,
    headers: { ...admin('owner'), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

const share = async (stack: TestStack, userId: string) =>
  dataOf(await as(stack, createShareEndpoint, 'shares', { user_id: userId }), createShareEndpoint)
const sharesOf = async (stack: TestStack, userId: string) =>
  (await dataOf(await as(stack, listSharesEndpoint, `shares?user_id=${userId}`), listSharesEndpoint)).items
const tracker = async (stack: TestStack, userId: string) =>
  dataOf(await as(stack, createTrackerEndpoint, 'trackers', { user_id: userId }), createTrackerEndpoint)
const trackersOf = async (stack: TestStack, userId: string) =>
  (await dataOf(await as(stack, listTrackersEndpoint, `trackers?user_id=${userId}`), listTrackersEndpoint))
    .items

/** A browser's subscription at a push service. */
const newSubscription = () => ({
  endpoint: `https://fcm.googleapis.com/fcm/send/${crypto.randomUUID()}`,
  keys: { p256dh: createECDH('prime256v1').generateKeys('base64url'), auth: 'A'.repeat(22) },
})
const subscribe = async (stack: TestStack, userId: string) => {
  const body = { user_id: userId, ...newSubscription() }
  return dataOf(await as(stack, subscribeToPushEndpoint, 'push-subscriptions', body), subscribeToPushEndpoint)
}
const devicesOf = async (stack: TestStack, userId: string) => {
  const answer = await as(stack, listPushSubscriptionsEndpoint, `push-subscriptions?user_id=${userId}`)
  return (await dataOf(answer, listPushSubscriptionsEndpoint)).items
}

const OWN_DATA_CASES: readonly (readonly [Endpoint, Case])[] = [
  [
    ownWalkEndpoint,
    async (stack, userId) => {
      const answer = await as(stack, ownWalkEndpoint, 'me/walk', { user_id: userId })
      const walk = await dataOf(answer, ownWalkEndpoint)
      expect(walk).toMatchObject({ userId, pending: 1, line: [PLACE] })
      expect(walk.days.map(({ checkins }) => checkins)).toEqual([1])
    },
  ],
  [
    ownExportEndpoint,
    async (stack, userId) => {
      const all = await (await as(stack, ownExportEndpoint, 'me/export', { user_id: userId })).json()
      expect(all).toMatchObject({ pending: [{ user_id: userId, ...PLACE }] })
    },
  ],
  [
    ownErasureEndpoint,
    async (stack, userId) => {
      const body = { user_id: userId, confirm: true }
      await dataOf(await as(stack, ownErasureEndpoint, 'me/erase', body), ownErasureEndpoint)
      await sentenceOf(await stack.fetch(`/api/event/user/${userId}`), 404, 'not-found')
    },
  ],
  [
    createShareEndpoint,
    async (stack, userId) => {
      const { url } = await share(stack, userId)
      expect((await stack.fetch(new URL(url).pathname)).status).toBe(200)
    },
  ],
  [
    listSharesEndpoint,
    async (stack, userId) => {
      expect(await sharesOf(stack, userId)).toEqual([])
      const made = await share(stack, userId)
      expect(await sharesOf(stack, userId)).toEqual([made])
    },
  ],
  [
    changeShareEndpoint,
    async (stack, userId) => {
      const { id } = await share(stack, userId)
      const body = { user_id: userId, show_name: true }
      const changed = await dataOf(
        await as(stack, changeShareEndpoint, `shares/${id}`, body),
        changeShareEndpoint,
      )
      expect(changed).toMatchObject({ id, show_name: true })
    },
  ],
  [
    revokeShareEndpoint,
    async (stack, userId) => {
      const { id } = await share(stack, userId)
      const path = `shares/${id}?user_id=${userId}`
      await dataOf(await as(stack, revokeShareEndpoint, path), revokeShareEndpoint)
      expect(await sharesOf(stack, userId)).toEqual([])
    },
  ],
  [
    revokeSharesOfUserEndpoint,
    async (stack, userId) => {
      await share(stack, userId)
      const answer = await as(stack, revokeSharesOfUserEndpoint, `admin/users/${userId}/shares`)
      expect(await dataOf(answer, revokeSharesOfUserEndpoint)).toEqual({ revoked: 1 })
    },
  ],
  [
    createTrackerEndpoint,
    async (stack, userId) => {
      const { apps } = await tracker(stack, userId)
      expect(Object.keys(apps)).toHaveLength(5)
    },
  ],
  [
    listTrackersEndpoint,
    async (stack, userId) => {
      expect(await trackersOf(stack, userId)).toEqual([])
      const { id } = await tracker(stack, userId)
      expect(await trackersOf(stack, userId)).toMatchObject([{ id }])
    },
  ],
  [
    revokeTrackerEndpoint,
    async (stack, userId) => {
      const { id } = await tracker(stack, userId)
      const path = `trackers/${id}?user_id=${userId}`
      await dataOf(await as(stack, revokeTrackerEndpoint, path), revokeTrackerEndpoint)
      expect(await trackersOf(stack, userId)).toEqual([])
    },
  ],
  [
    revokeTrackerOfUserEndpoint,
    async (stack, userId) => {
      const { id } = await tracker(stack, userId)
      const path = `admin/users/${userId}/trackers/${id}`
      await dataOf(await as(stack, revokeTrackerOfUserEndpoint, path), revokeTrackerOfUserEndpoint)
      expect(await trackersOf(stack, userId)).toEqual([])
    },
  ],
  [
    userPointsEndpoint,
    async (stack, userId) => {
      const answer = await as(stack, userPointsEndpoint, `admin/users/${userId}/points`)
      const points = await dataOf(answer, userPointsEndpoint)
      expect(points).toMatchObject({ pending: 1, items: [{ kind: 'checkin', pending: true }] })
    },
  ],
  [
    userMessagesEndpoint,
    async (stack, userId) => {
      const answer = await as(stack, userMessagesEndpoint, `admin/users/${userId}/messages`)
      expect((await dataOf(answer, userMessagesEndpoint)).items).toEqual([])
    },
  ],
  [
    subscribeToPushEndpoint,
    async (stack, userId) =>
      expect(await subscribe(stack, userId)).toMatchObject({ push_service: 'fcm.googleapis.com' }),
  ],
  [
    listPushSubscriptionsEndpoint,
    async (stack, userId) => {
      expect(await devicesOf(stack, userId)).toEqual([])
      const { id } = await subscribe(stack, userId)
      expect(await devicesOf(stack, userId)).toMatchObject([{ id }])
    },
  ],
  [
    unsubscribeFromPushEndpoint,
    async (stack, userId) => {
      const { id } = await subscribe(stack, userId)
      const path = `push-subscriptions/${id}?user_id=${userId}`
      await dataOf(await as(stack, unsubscribeFromPushEndpoint, path), unsubscribeFromPushEndpoint)
      expect(await devicesOf(stack, userId)).toEqual([])
    },
  ],
]

const DAY = 86_400_000
const { publicKey, privateKey } = webPush.generateVAPIDKeys()

const nameOf = ({ method, path }: Pick<Endpoint, 'method' | 'path'>): string => `${method} ${path}`

/** Writes of the pilgrim: accepted, and the check-in is still stored. */
const written =
  (endpoint: Endpoint, fields: object): Case =>
  async (stack, userId) => {
    const path = endpoint.path.replace('/api/event/', '')
    await dataOf(await post(stack, path, { user_id: userId, ...fields }), endpoint)
    expect(await profileOf(stack, userId)).toMatchObject({ checkins: 1 })
  }

const recipientsOf = async (stack: TestStack, body: object): Promise<number> =>
  (await dataOf(await as(stack, pushEndpoint, 'push', { text: 'x', dry_run: true, ...body }), pushEndpoint))
    .recipients

/** The smallest valid picture. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

let people = 0x9_000_000

const CASES = new Map<Endpoint, Case>([
  ...OWN_DATA_CASES,
  [
    checkInEndpoint,
    async (stack, userId) => {
      await dataOf(await checkIn(stack, userId, { timestamp: Date.now() - 120_000 }), checkInEndpoint)
      expect(await profileOf(stack, userId)).toMatchObject({ checkins: 2 })
    },
  ],
  [
    trackSyncEndpoint,
    async (stack, userId) =>
      dataOf(await syncTrack(stack, userId, [{ ...PLACE, timestamp: Date.now() }]), trackSyncEndpoint),
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
    async (stack, userId) => {
      const headers = { 'X-Line-User-Id': userId }
      const upload = { method: 'POST', headers, body: PIXEL }
      await dataOf(await stack.fetch('/api/event/feedback-upload', upload), uploadScreenshotEndpoint)
      expect(await profileOf(stack, userId)).toMatchObject({ checkins: 1 })
    },
  ],
  [
    profileEndpoint,
    async (stack, userId) => expect(await profileOf(stack, userId)).toMatchObject({ userId, checkins: 1 }),
  ],
  [
    photoCountEndpoint,
    async (stack, userId) =>
      expect(
        await dataOf(await stack.fetch(`/api/event/photos/count?user_id=${userId}`), photoCountEndpoint),
      ).toEqual({ userId, photo_count: 0 }),
  ],
  [drawCardEndpoint, written(drawCardEndpoint, {})],
  [
    cardEndpoint,
    async (stack, userId) => expect((await stack.fetch(`/api/event/og/${userId}.png`)).status).toBe(200),
  ],
  [
    dataEndpoint,
    async (stack, userId) => {
      const shown = async () =>
        (await (await as(stack, dataEndpoint, 'data?limit=5000')).text()).includes(userId)
      await until(shown, 'the pilgrim on the live map')
    },
  ],
  [
    userEndpoint,
    async (stack, userId) =>
      expect(
        await dataOf(await as(stack, userEndpoint, `admin/users/${userId}`), userEndpoint),
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
    async (stack, userId) => {
      const answer = await as(stack, userStatusEndpoint, `admin/users/${userId}/status`, {
        status: 'completed',
      })
      await dataOf(answer, userStatusEndpoint)
      expect(await profileOf(stack, userId)).toMatchObject({ participant_status: 'completed', checkins: 1 })
    },
  ],
  [
    palanquinEndpoint,
    async (stack, userId) => {
      const path = `admin/users/${userId}/palanquin`
      await dataOf(await as(stack, palanquinEndpoint, path, { palanquin: true }), palanquinEndpoint)
      expect(
        await dataOf(await as(stack, userEndpoint, `admin/users/${userId}`), userEndpoint),
      ).toMatchObject({
        palanquin: true,
        checkins: 1,
      })
    },
  ],
  [
    exportUserEndpoint,
    async (stack, userId) => {
      const path = `admin/users/${userId}/export`
      const all = (await (await as(stack, exportUserEndpoint, path)).json()) as object
      expect(all).toMatchObject({
        gps_points: [],
        pending: [{ user_id: userId, kind: 'c', ...PLACE, in_range: true, clock_corrected: false }],
      })
      const gpx = await (await as(stack, exportUserEndpoint, `${path}?format=gpx`)).text()
      expect([gpx.match(/<wpt /g)?.length, gpx.match(/<trkpt /g)?.length]).toEqual([1, 1])
    },
  ],
  [
    eraseUserEndpoint,
    async (stack, userId) => {
      await dataOf(await as(stack, eraseUserEndpoint, `admin/users/${userId}`), eraseUserEndpoint)
      await sentenceOf(await stack.fetch(`/api/event/user/${userId}`), 404, 'not-found')
    },
  ],
  [
    assignRoleEndpoint,
    async (stack, userId) => {
      const body = { user_id: userId, role: 'volunteer' }
      await dataOf(await as(stack, assignRoleEndpoint, 'admin/roles', body), assignRoleEndpoint)
      const { items } = await dataOf(await as(stack, rolesEndpoint, 'admin/roles?limit=200'), rolesEndpoint)
      expect(items.map((item) => item.userId)).toContain(userId)
      expect(await profileOf(stack, userId)).toMatchObject({ checkins: 1 })
    },
  ],
  [
    usersEndpoint,
    async (stack, userId) => {
      const list = async (query: string) =>
        dataOf(await as(stack, usersEndpoint, `admin/users?${query}`), usersEndpoint)
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
    async (stack) => {
      const [walker, late, volunteer] = [lineUser(people++), lineUser(people++), lineUser(people++)]
      const count = async () =>
        Promise.all(
          ['all', 'participants', 'volunteers', 'completed', 'inactive'].map((audience) =>
            recipientsOf(stack, { audience }),
          ),
        )
      await post(stack, 'user/sync', { user_id: volunteer })
      const role = { user_id: volunteer, role: 'volunteer' }
      await dataOf(await as(stack, assignRoleEndpoint, 'admin/roles', role), assignRoleEndpoint)
      const [all, participants, volunteers, completed, inactive] = await count()
      await checkIn(stack, walker)
      // Recorded the day before yesterday.
      await syncTrack(stack, late, [{ ...PLACE, timestamp: Date.now() - 2 * DAY }])
      await checkIn(stack, volunteer)
      expect(await count()).toEqual([all! + 2, participants! + 3, volunteers!, completed!, inactive! + 1])
      expect(await recipientsOf(stack, { user_ids: [walker] })).toBe(1)
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

describeBothStacks(
  'someone in the buffer only',
  (stack) => {
    // A scheduler flushes when it starts. The first pilgrims would not stay in the buffer.
    beforeAll(() =>
      until(async () => (await healthOf(stack)).last_flush !== null, 'the flush of the start', {
        timeoutMs: 30_000,
      }),
    )
    test.each(Array.from(CASES, ([endpoint, tried]) => [nameOf(endpoint), tried] as const))(
      'is known to %s',
      async (_, tried) => {
        const userId = newAppId()
        await dataOf(await checkIn(stack, userId), checkInEndpoint)
        await tried(stack, userId)
      },
    )
  },
  { EVENT_FLUSH_SECONDS: '3600', EVENT_PUSH_PUBLIC_KEY: publicKey, EVENT_PUSH_PRIVATE_KEY: privateKey },
)
