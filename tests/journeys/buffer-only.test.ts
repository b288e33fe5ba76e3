/**
 * A pilgrim known only by pending points: every endpoint that takes a user id knows them. No flush runs during this
 * test.
 */
import { beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import type { Endpoint } from '#shared/contracts/endpoint.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { png } from '#tests/feedback-media/pictures.ts'
import { sentenceOf } from '#tests/helpers/answers.ts'
import { type Calls, callsOf } from '#tests/helpers/calls.ts'
import { lineUser } from '#tests/helpers/line-server.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { newDevice, newPushKeys } from '#tests/helpers/push-service.ts'
import {
  checkIn,
  healthOf,
  newAppId,
  PLACE,
  readAs,
  syncTrack,
  type TestStack,
} from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'

const DAY = 86_400_000

/** @param calls calls as an owner, and as the pilgrim */
type Case = (calls: Calls, userId: string, stack: TestStack) => Promise<unknown>

/** Writes of the pilgrim: accepted, and the check-in is still stored. */
const written =
  (write: (calls: Calls) => Promise<unknown>): Case =>
  async (calls, userId) => {
    await write(calls)
    expect(await calls.readProfile({ userId })).toMatchObject({ checkins: 1 })
  }

const isGone = async (stack: TestStack, userId: string) =>
  sentenceOf(await stack.fetch(`/api/event/user/${userId}`), 404, 'not-found')

const subscribe = ({ subscribeToPush }: Calls) =>
  subscribeToPush(newDevice('https://fcm.googleapis.com/fcm/send/').subscription)

const AUDIENCES = ['all', 'participants', 'volunteers', 'completed', 'inactive'] as const
let people = 0x9_000_000

/** By the id of the endpoint. */
const CASES: Readonly<Record<string, Case>> = {
  async readOwnWalk(calls, userId) {
    const walk = await calls.readOwnWalk()
    expect(walk).toMatchObject({ userId, pending: 1, line: [PLACE] })
    expect(walk.days.map(({ checkins }) => checkins)).toEqual([1])
  },
  async exportOwnData(calls, userId) {
    expect(await calls.exportOwnData()).toMatchObject({ pending: [{ user_id: userId, ...PLACE }] })
  },
  async eraseOwnData(calls, userId, stack) {
    await calls.eraseOwnData({ confirm: true })
    await isGone(stack, userId)
  },
  async raiseEmergency(calls, userId) {
    expect(await calls.raiseEmergency({ pressed_at: new Date().toISOString() })).toMatchObject({
      seen_at: null,
    })
    const raised = async () => (await calls.listEmergencies()).items.some((item) => item.userId === userId)
    await until(raised, 'the emergency')
  },
  async createShare(calls, _, stack) {
    const { url } = await calls.createShare()
    expect((await stack.fetch(new URL(url).pathname)).status).toBe(200)
  },
  async listShares(calls) {
    expect((await calls.listShares()).items).toEqual([])
    const made = await calls.createShare()
    expect((await calls.listShares()).items).toEqual([made])
  },
  async changeShare(calls) {
    const { id } = await calls.createShare()
    expect(await calls.changeShare({ id, show_name: true })).toMatchObject({ id, show_name: true })
  },
  async revokeShare(calls) {
    await calls.revokeShare(await calls.createShare())
    expect((await calls.listShares()).items).toEqual([])
  },
  async revokeSharesOfUser(calls, userId) {
    await calls.createShare()
    expect(await calls.revokeSharesOfUser({ userId })).toEqual({ revoked: 1 })
  },
  async createTracker(calls) {
    expect(Object.keys((await calls.createTracker()).apps)).toHaveLength(5)
  },
  async listTrackers(calls) {
    expect((await calls.listTrackers()).items).toEqual([])
    const { id } = await calls.createTracker()
    expect((await calls.listTrackers()).items).toMatchObject([{ id }])
  },
  async revokeTracker(calls) {
    const { id } = await calls.createTracker()
    await calls.revokeTracker({ id })
    expect((await calls.listTrackers()).items).toEqual([])
  },
  async revokeTrackerOfUser(calls, userId) {
    const { id } = await calls.createTracker()
    await calls.revokeTrackerOfUser({ userId, id })
    expect((await calls.listTrackers()).items).toEqual([])
  },
  async listUserPoints(calls, userId) {
    expect(await calls.listUserPoints({ userId })).toMatchObject({
      pending: 1,
      items: [{ kind: 'checkin', pending: true }],
    })
  },
  async listUserMessages(calls, userId) {
    expect((await calls.listUserMessages({ userId })).items).toEqual([])
  },
  async subscribeToPush(calls) {
    expect(await subscribe(calls)).toMatchObject({ push_service: 'fcm.googleapis.com' })
  },
  async listPushSubscriptions(calls) {
    expect((await calls.listPushSubscriptions()).items).toEqual([])
    const { id } = await subscribe(calls)
    expect((await calls.listPushSubscriptions()).items).toMatchObject([{ id }])
  },
  async unsubscribeFromPush(calls) {
    const { id } = await subscribe(calls)
    await calls.unsubscribeFromPush({ id })
    expect((await calls.listPushSubscriptions()).items).toEqual([])
  },
  async checkIn(calls, userId) {
    await calls.checkIn({ ...PLACE, timestamp: Date.now() - 120_000 })
    expect(await calls.readProfile({ userId })).toMatchObject({ checkins: 2 })
  },
  syncTrack: written(({ syncTrack }) => syncTrack({ points: [{ ...PLACE, timestamp: Date.now() }] })),
  submitSurvey: written(({ submitSurvey }) => submitSurvey({ survey: { q1: 'yes' } })),
  submitSurveyAlias: written(({ submitSurveyAlias }) => submitSurveyAlias({ survey: { q1: 'yes' } })),
  syncProfile: written(({ syncProfile }) => syncProfile({ display_name: 'Name' })),
  setPhone: written(({ setPhone }) => setPhone({ phone: '0912345678' })),
  setPrivacy: written(({ setPrivacy }) => setPrivacy({ agreed: true })),
  setParticipantStatus: written(({ setParticipantStatus }) => setParticipantStatus({ status: 'withdrawn' })),
  submitFeedback: written(({ submitFeedback }) => submitFeedback({ category: 'x', description: 'y' })),
  uploadScreenshot: written(({ uploadScreenshot }) => uploadScreenshot({ body: png(1, 1) })),
  drawCard: written(({ drawCard }) => drawCard()),
  async readProfile(calls, userId) {
    expect(await calls.readProfile({ userId })).toMatchObject({ userId, checkins: 1 })
  },
  async countPhotos(calls, userId) {
    expect(await calls.countPhotos()).toEqual({ userId, photo_count: 0 })
  },
  async readCard(calls, userId) {
    expect((await calls.readCard({ file: `${userId}.png` })).type).toBe('image/png')
  },
  async readMap(calls, userId) {
    const shown = async () =>
      (await calls.readMap({ limit: 5_000 })).points.some((point) => point.userId === userId)
    await until(shown, 'the pilgrim on the live map')
  },
  async readUser(calls, userId) {
    expect(await calls.readUser({ userId })).toMatchObject({
      userId,
      checkins: 1,
      pending: 1,
      stored_points: 0,
      phone: null,
      created_at: null,
      recent_checkins: [{ ...PLACE, in_range: true, pending: true }],
    })
  },
  async setUserStatus(calls, userId) {
    await calls.setUserStatus({ userId, status: 'completed' })
    expect(await calls.readProfile({ userId })).toMatchObject({
      participant_status: 'completed',
      checkins: 1,
    })
  },
  async setPalanquin(calls, userId) {
    await calls.setPalanquin({ userId, palanquin: true })
    expect(await calls.readUser({ userId })).toMatchObject({ palanquin: true, checkins: 1 })
  },
  async exportUser(calls, userId, stack) {
    expect(await calls.exportUser({ userId })).toMatchObject({
      gps_points: [],
      pending: [{ user_id: userId, kind: 'c', ...PLACE, in_range: true, clock_corrected: false }],
    })
    const gpx = await (await readAs(stack, 'owner', `admin/users/${userId}/export?format=gpx`)).text()
    expect([gpx.match(/<wpt /g)?.length, gpx.match(/<trkpt /g)?.length]).toEqual([1, 1])
  },
  async eraseUser(calls, userId, stack) {
    await calls.eraseUser({ userId })
    await isGone(stack, userId)
  },
  async assignRole(calls, userId) {
    await calls.assignRole({ user_id: userId, role: 'volunteer' })
    const { items } = await calls.listRoles({ limit: 200 })
    expect(items.map((item) => item.userId)).toContain(userId)
    expect(await calls.readProfile({ userId })).toMatchObject({ checkins: 1 })
  },
  async listUsers({ listUsers }, userId) {
    const mine = { userId, checkins: 1, participant_status: 'active', survey_completed: 0, pending: 1 }
    const found = await listUsers({ search: userId.slice(2).toUpperCase() })
    expect(found).toMatchObject({ items: [mine], next_cursor: null, pending: 1 })
    expect((await listUsers({ search: `no-${userId}` })).items).toEqual([])
    for (const sort of ['userId', 'km', 'checkins', 'last_seen'] as const)
      for (const order of ['asc', 'desc'] as const) {
        const all: string[] = []
        let cursor: string | null = null
        do {
          const page: Awaited<ReturnType<typeof listUsers>> = await listUsers({
            sort,
            order,
            limit: 7,
            cursor,
          })
          all.push(...page.items.map((item) => item.userId))
          cursor = page.next_cursor
        } while (cursor !== null)
        expect(all.filter((id) => id === userId)).toHaveLength(1)
        expect(new Set(all).size).toBe(all.length)
      }
  },
  async sendPush({ syncProfile, assignRole, sendPush }, _, stack) {
    const [walker, late, volunteer] = [lineUser(people++), lineUser(people++), lineUser(people++)]
    const recipients = async (to: Parameters<typeof sendPush>[0]) =>
      (await sendPush({ text: 'x', dry_run: true, ...to })).recipients
    const count = () => Promise.all(AUDIENCES.map((audience) => recipients({ audience })))
    await syncProfile({ user_id: volunteer })
    await assignRole({ user_id: volunteer, role: 'volunteer' })
    const [all, participants, volunteers, completed, inactive] = await count()
    await checkIn(stack, walker)
    // Recorded the day before yesterday.
    await syncTrack(stack, late, [{ ...PLACE, timestamp: Date.now() - 2 * DAY }])
    await checkIn(stack, volunteer)
    expect(await count()).toEqual([all! + 2, participants! + 3, volunteers!, completed!, inactive! + 1])
    expect(await recipients({ user_ids: [walker] })).toBe(1)
  },
}

test('every endpoint that takes a user id has its case', () => {
  const takes = ({ caller, path, body }: Endpoint) =>
    caller !== 'none' ||
    path.includes(':userId') ||
    /"(user_ids?|userId)"/.test(JSON.stringify(z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' })))
  const without = ENDPOINTS.filter((endpoint) => takes(endpoint) && !(endpoint.id in CASES))
  expect(without.map(({ id }) => id)).toEqual([])
})

describeBothStacks(
  'someone in the buffer only',
  (stack) => {
    // A scheduler flushes when it starts, so the first pilgrims would not stay in the buffer.
    beforeAll(() =>
      until(async () => (await healthOf(stack)).last_flush !== null, 'the flush of the start', {
        timeoutMs: 30_000,
      }),
    )
    const names = new Map(ENDPOINTS.map(({ id, method, path }) => [id, `${method} ${path}`]))
    test.each(Object.entries(CASES).map(([id, tried]) => [names.get(id)!, tried] as const))(
      'is known to %s',
      async (_, tried) => {
        const userId = newAppId()
        expect((await checkIn(stack, userId)).status).toBe(202)
        await tried(callsOf(stack, 'owner', userId), userId, stack)
      },
    )
  },
  { EVENT_FLUSH_SECONDS: '3600', ...newPushKeys() },
)
