/** Cases of a pilgrim known only by pending points: their own data, their links and tracker keys, and an operator's look at their points. */
import { createECDH } from 'node:crypto'
import type { Endpoint } from '#shared/contracts/endpoint.ts'
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
import { expect } from 'bun:test'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { admin, PLACE, type TestStack } from '#tests/helpers/test-stack.ts'

export type Case = (stack: TestStack, userId: string) => Promise<unknown>

/** Calls an endpoint as an owner. */
export const as = (stack: TestStack, endpoint: Endpoint, path: string, body?: object) =>
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

export const OWN_DATA_CASES: readonly (readonly [Endpoint, Case])[] = [
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
