/**
 * The total that one address may write: the window itself, and every public write with both identity
 * settings.
 */
import { createECDH } from 'node:crypto'
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { ACCESS_LEVEL } from '#shared/service/security/admin-auth.ts'
import {
  ALARM_LIMIT,
  createAddressLimit,
  priceOf,
} from '#shared/service/security/caller-and-address-limits.ts'
import { PRICES, SHARES } from '#shared/service/security/request-prices.ts'
import { sentenceOf } from '#tests/helpers/answers.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import { admin, callAs, newPilgrimId, PLACE } from '#tests/helpers/test-stack.ts'
import { Refusal } from '#shared/runtime/refusal.ts'

/** Status of the refusal that a call throws; null if it throws none. */
function statusOfThrown(call: () => void): number | null {
  try {
    call()
    return null
  } catch (error) {
    if (error instanceof Refusal) return error.httpStatus
    throw error
  }
}

const MAX = 5
const WINDOW_MS = 1_000

describe('the window of an address', () => {
  test('never counts more than the limit in any window, whenever the calls come', () => {
    const steps = fc.array(
      fc.record({ after: fc.integer({ min: 0, max: 600 }), address: fc.constantFrom('a', 'b') }),
      {
        maxLength: 300,
      },
    )
    fc.assert(
      fc.property(steps, (calls) => {
        let now = 0
        const limit = createAddressLimit({ max: MAX, windowMs: WINDOW_MS }, () => now)
        const taken: Record<string, number[]> = { a: [], b: [] }
        for (const { after, address } of calls) {
          now += after
          const inWindow = taken[address]!.filter((at) => at > now - WINDOW_MS).length
          const status = statusOfThrown(() => limit.charge(address))
          // A window with room never rejects, and a full one never accepts.
          expect(status).toBe(inWindow < MAX ? null : 429)
          if (status === null) taken[address]!.push(now)
        }
      }),
    )
  })

  test('an answer from thousands of pending points has their price', () => {
    const limit = createAddressLimit({ max: 6_000, windowMs: 60_000 }, () => 0)
    let answers = 0
    while (statusOfThrown(() => limit.charge('a', 1 + priceOf(50_000))) === null) answers++
    expect(answers).toBe(12)
    expect([priceOf(null), priceOf(99), priceOf(undefined)]).toEqual([0, 0, 0])
  })

  test('an address without calls is removed', () => {
    let now = 0
    const limit = createAddressLimit({ max: 1, windowMs: WINDOW_MS }, () => now)
    for (let i = 0; i < 1_000; i++) limit.charge(`other ${i}`)
    now += 2 * WINDOW_MS
    limit.charge('b')
    expect(limit.held()).toBe(1)
  })
})

/** Other ids would be rejected, and a rejected request is not counted. */
const APP_ID = `w-${'0'.repeat(26)}`
/** Key of a nonexistent tracker: the 404 is counted. */
const KEY = 'k'.repeat(32)
const LIMIT = 200
const MOST_REPLICAS = 4
/** A valid body of each public write, by the path below `/api/event/`. */
const RIGHT: Record<string, (userId: string) => object> = {
  'me/walk': () => ({ user_id: APP_ID }),
  'me/export': () => ({ user_id: APP_ID }),
  'me/erase': () => ({ user_id: APP_ID, confirm: true }),
  feedback: (user_id) => ({ user_id, category: 'x', description: 'y' }),
  'feedback-upload': () => ({ image: 'none' }),
  'og-image': (user_id) => ({ user_id }),
  checkin: (user_id) => ({ user_id, ...PLACE }),
  'track/sync': (user_id) => ({ user_id, points: [{ ...PLACE, timestamp: Date.now() }] }),
  submit: (user_id) => ({ user_id, q1: 'x' }),
  survey: (user_id) => ({ user_id, q1: 'x' }),
  'user/sync': (user_id) => ({ user_id, display_name: 'x' }),
  'user/phone': (user_id) => ({ user_id, phone: '0912345678' }),
  privacy: (user_id) => ({ user_id }),
  emergency: (user_id) => ({ user_id, pressed_at: Date.now() }),
  'participant-status': (user_id) => ({ user_id, status: 'active' }),
  trackers: (user_id) => ({ user_id }),
  shares: (user_id) => ({ user_id }),
  'shares/:id': () => ({ user_id: APP_ID, show_name: true }),
  'push-subscriptions': () => ({
    user_id: APP_ID,
    endpoint: 'https://fcm.googleapis.com/fcm/send/x',
    keys: { p256dh: createECDH('prime256v1').generateKeys('base64url'), auth: 'A'.repeat(22) },
  }),
  'ingest/:key/owntracks': () => ({}),
  'ingest/:key/gpslogger': () => ({}),
  'ingest/:key/osmand': () => ({}),
  'ingest/:key/overland': () => ({}),
  'ingest/:key/traccar': () => ({}),
}

describeBothStacks(
  'an address',
  (stack) => {
    test('applies although each call names an invented pilgrim; invalid calls are counted', async () => {
      const send = (body: object) => post(stack, 'feedback', body)
      const { ms } = PRICES.submitFeedback!
      const most = LIMIT * SHARES['feedback-media']!.writes
      for (let i = 0; i < most / ms; i += 2) {
        expect((await send({ user_id: newPilgrimId() })).status).toBe(400)
        expect((await send(RIGHT.feedback!(newPilgrimId()))).status).toBe(200)
      }
      const refused = await send({ user_id: newPilgrimId() })
      expect(refused.headers.get('ratelimit-policy')).toBe(`"address";q=${most};w=60`)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(20)
      await sentenceOf(refused, 429, 'rate-limited')
    })

    const writes = ENDPOINTS.filter(({ limit }) => limit !== null && limit !== 'admin').map(
      (endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const,
    )

    test.each(writes)('%s is charged to it', async (_name, { method, path, temporaryIs503 }) => {
      const name = path.replace('/api/event/', '')
      const url = path.replace(':key', KEY).replace(/:\w+/, 'x')
      const limited = temporaryIs503 ? 503 : 429
      const call = () =>
        method === 'GET' || method === 'DELETE'
          ? stack.fetch(`${url}?user_id=${APP_ID}`, { method })
          : stack.fetch(url, { method, body: JSON.stringify(RIGHT[name]!(newPilgrimId())) })
      let last = 0
      // Each replica counts separately.
      const most = MOST_REPLICAS * (LIMIT + (name === 'emergency' ? ALARM_LIMIT.max : 0))
      for (let i = 0; i <= most && last !== limited; i++) last = (await call()).status
      expect(last).toBe(limited)
    })

    test('does not count operators with a token', async () => {
      const drawn = await callAs(stack, 'manager', 'POST', 'og-image', { user_id: newPilgrimId() })
      expect(drawn.status).toBe(404)
    })

    const reads = ENDPOINTS.filter(
      ({ method, limit, access }) =>
        method === 'GET' && (limit === null || access === 'optional') && ACCESS_LEVEL[access] === 0,
    ).map((endpoint) => [endpoint.path, endpoint] as const)

    test.each(reads)(
      'GET %s is charged to it as a read, unless a cache answers',
      async (path, { cacheMs }) => {
        const url = path.replace(':file', 'x.png').replace(/:\w+/, 'x')
        const read = async (query: string) => (await stack.fetch(`${url}?${query}`)).status
        let last = 0
        for (let i = 0; i <= MOST_REPLICAS * LIMIT && last !== 429; i++)
          last = await read(`limit=${1 + i}&user_id=${APP_ID}&bbox=120,23,121,${24 + i / 100}`)
        expect(last).toBe(429)
        if (cacheMs === 0) return
        expect(await stack.fetch(url, { headers: admin('volunteer') })).toMatchObject({ status: 200 })
      },
    )
  },
  { EVENT_LIMIT_ADDRESS: String(LIMIT) },
)
