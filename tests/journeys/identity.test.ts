/** With `EVENT_IDENTITY=line` a write for a pilgrim needs the pilgrim's token; reads stay open. */
import { afterAll, expect, test } from 'bun:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { userSyncEndpoint } from '#shared/contracts/profile.ts'
import { createTrackerEndpoint } from '#shared/contracts/trackers.ts'
import { checkInEndpoint } from '#shared/contracts/tracking.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { newDevice, newPushKeys } from '#tests/helpers/push-service.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { profileOf } from '#tests/helpers/pilgrim.ts'
import { callAs, newPilgrimId, PLACE } from '#tests/helpers/test-stack.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'

const CHANNEL = '1234567890'
const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }
/** Serves keys like LINE. */
const line = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json({ keys: [jwk] }) })
afterAll(() => line.stop(true))

const tokenOf = (userId: string): Promise<string> =>
  new SignJWT({})
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .setIssuer('https://access.line.me')
    .setAudience(CHANNEL)
    .setSubject(userId)
    .setExpirationTime('1h')
    .sign(privateKey)

/** Every write for a pilgrim, with a body that is valid except for its sender. */
const WRITES: readonly (readonly [path: string, body: object])[] = [
  ['checkin', PLACE],
  ['track/sync', { points: [{ ...PLACE, timestamp: Date.now() }] }],
  ['submit', { q1: 'x' }],
  ['user/sync', { display_name: 'x' }],
  ['user/phone', { phone: '0912345678' }],
  ['privacy', {}],
  ['participant-status', { status: 'active' }],
  ['me/walk', {}],
  ['shares', { live_hours: 1 }],
  ['trackers', { label: 'x' }],
  ['push-subscriptions', newDevice('https://fcm.googleapis.com/fcm/send/').subscription],
]

describeBothStacks(
  'identity by LINE',
  (stack) => {
    const post = (path: string, body: object, authorization?: string) =>
      stack.fetch(`/api/event/${path}`, {
        method: 'POST',
        headers: authorization === undefined ? {} : { Authorization: authorization },
        body: JSON.stringify(body),
      })

    test.each(WRITES)('%s needs the pilgrim’s own token', async (path, fields) => {
      const userId = newPilgrimId()
      const body = { user_id: userId, ...fields }
      await sentenceOf(await post(path, body), 401, 'unauthorized')
      const stranger = `Bearer ${await tokenOf(newPilgrimId())}`
      await sentenceOf(await post(path, body, stranger), 403, 'forbidden')
      expect((await stack.fetch(`/api/event/user/${userId}`)).status).toBe(404)
      const own = `Bearer ${await tokenOf(userId)}`
      expect([200, 202]).toContain((await post(path, body, own)).status)
    })

    test('reading a profile and the map needs no token, nor does an operator’s write', async () => {
      const userId = newPilgrimId()
      await dataOf(
        await post('checkin', { user_id: userId, ...PLACE }, `Bearer ${await tokenOf(userId)}`),
        checkInEndpoint,
      )
      expect((await stack.fetch(`/api/event/user/${userId}`)).status).toBe(200)
      expect((await stack.fetch('/api/event/data')).status).toBe(200)
      const role = await callAs(stack, 'owner', 'POST', 'admin/roles', { user_id: userId, role: 'volunteer' })
      expect(role.status).toBe(200)
    })

    test('trackers are listed and revoked by their own pilgrim only', async () => {
      const userId = newPilgrimId()
      const own = { Authorization: `Bearer ${await tokenOf(userId)}` }
      const stranger = { Authorization: `Bearer ${await tokenOf(newPilgrimId())}` }
      const made = await post('trackers', { user_id: userId }, own.Authorization)
      const { id } = await dataOf(made, createTrackerEndpoint)
      for (const [method, path] of [
        ['GET', 'trackers'],
        ['DELETE', `trackers/${id}`],
      ] as const) {
        const call = (headers: Record<string, string>) =>
          stack.fetch(`/api/event/${path}?user_id=${userId}`, { method, headers })
        await sentenceOf(await call({}), 401, 'unauthorized')
        await sentenceOf(await call(stranger), 403, 'forbidden')
        expect((await call(own)).status).toBe(200)
      }
    })

    test('first_seen and last_seen are instants for the pilgrim and days for others', async () => {
      const userId = newPilgrimId()
      const own = { Authorization: `Bearer ${await tokenOf(userId)}` }
      const at = Date.now() - 3_600_000
      const body = { user_id: userId, ...PLACE, timestamp: at }
      await dataOf(await post('checkin', body, own.Authorization), checkInEndpoint)
      const instant = new Date(at).toISOString()
      const day = createCalendar('Asia/Taipei').day(at)
      expect(await profileOf(stack, userId, own)).toMatchObject({ first_seen: instant, last_seen: instant })
      const synced = await post('user/sync', { user_id: userId }, own.Authorization)
      expect(await dataOf(synced, userSyncEndpoint)).toMatchObject({
        first_seen: instant,
        last_seen: instant,
      })
      const others = [`Bearer ${await tokenOf(newPilgrimId())}`, 'Bearer nonsense', 'Basic nonsense']
      for (const headers of [{}, ...others.map((Authorization) => ({ Authorization }))])
        expect(await profileOf(stack, userId, headers)).toMatchObject({ first_seen: day, last_seen: day })
    })
  },
  {
    EVENT_IDENTITY: 'line',
    ...newPushKeys(),
    LINE_LOGIN_CHANNEL_ID: CHANNEL,
    LINE_API_BASE_URL: `http://127.0.0.1:${line.port}`,
  },
)
