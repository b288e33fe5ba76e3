/** Share cards over HTTP: drawn when their content changes, else served as stored. */
import { expect, test } from 'bun:test'
import { CARD_SIZE, drawCardEndpoint } from '#shared/contracts/cards.ts'
import { dataOf, expectCommonHeaders, sentenceOf } from '#tests/helpers/answers.ts'
import { rawRequest } from '#tests/helpers/raw-request.ts'
import { admin, checkIn, flushed, newPilgrimId, PLACE, syncTrack } from '#tests/helpers/test-stack.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { json } from './requests.ts'

describeBothStacks('share cards', (stack) => {
  const draw = (userId: string, headers: Record<string, string> = {}) =>
    stack.fetch(drawCardEndpoint.path, json({ user_id: userId }, headers))
  const drawn = async (userId: string) => dataOf(await draw(userId), drawCardEndpoint)
  const card = (userId: string, init: RequestInit = {}) => stack.fetch(`/api/event/og/${userId}.png`, init)
  /** Waits for the current card; while the renderer is busy an older one is served. */
  const etagOf = (userId: string) =>
    until(
      async () => {
        const { headers } = await card(userId)
        return headers.get('cache-control') === 'public, max-age=60' && headers.get('etag')
      },
      'the current card',
      { timeoutMs: 45_000 },
    )

  test('a card is drawn for a known pilgrim, and served as stored', async () => {
    const userId = `Pilgrim:${crypto.randomUUID()}@walk`
    await checkIn(stack, userId)
    const { url, etag, ...size } = await drawn(userId)
    expect(url).toEndWith(`/api/event/og/${userId}.png`)
    expect(size).toEqual(CARD_SIZE)
    const answer = await card(userId)
    expect(answer.status).toBe(200)
    expectCommonHeaders(answer)
    expect(answer.headers.get('etag')).toBe(etag)
    expect(answer.headers.get('content-type')).toBe('image/png')
    expect(answer.headers.get('cache-control')).toBe('public, max-age=60')
    const bytes = new Uint8Array(await answer.arrayBuffer())
    expect(await new Bun.Image(bytes).metadata()).toEqual({ ...CARD_SIZE, format: 'png' })
    expect(bytes.length).toBeLessThan(1_000_000)
    const same = await card(userId, { headers: { 'If-None-Match': etag } })
    expect([same.status, (await same.arrayBuffer()).byteLength]).toEqual([304, 0])
    const head = await card(userId, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)])
  })

  test('a known pilgrim without a card gets one, also a pilgrim who only has a name', async () => {
    const userId = newPilgrimId()
    await stack.fetch('/api/event/user/sync', json({ user_id: userId, display_name: 'محمد' }))
    expect((await card(userId)).status).toBe(200)
    const walker = newPilgrimId()
    await checkIn(stack, walker)
    expect((await card(walker, { method: 'HEAD' })).status).toBe(200)
  })

  test('unchanged facts keep the card, also across a flush; a change causes a new drawing', async () => {
    const userId = newPilgrimId()
    await checkIn(stack, userId)
    const now = Date.now()
    const track = Array.from({ length: 20 }, (_, i) => ({
      lat: PLACE.lat + i * 0.002,
      lng: PLACE.lng,
      timestamp: now - 3_600_000 + i * 150_000,
    }))
    await syncTrack(stack, userId, track)
    const first = await drawn(userId)
    expect((await drawn(userId)).etag).toBe(first.etag)
    await flushed(stack)
    expect((await drawn(userId)).etag).toBe(first.etag)
    await stack.fetch('/api/event/user/sync', json({ user_id: userId, display_name: '林美玉' }))
    // No request for a new card is needed: the current one is served.
    const served = await etagOf(userId)
    const named = await drawn(userId)
    expect(named.etag).not.toBe(first.etag)
    expect(served).toBe(named.etag)
    expect((await card(userId, { headers: { 'If-None-Match': first.etag } })).status).toBe(200)
    await syncTrack(stack, userId, [{ lat: PLACE.lat + 0.1, lng: PLACE.lng, timestamp: now - 60_000 }])
    expect((await drawn(userId)).etag).not.toBe(named.etag)
  })

  test('the card shows current data, pending points included', async () => {
    const userId = newPilgrimId()
    await checkIn(stack, userId, { timestamp: Date.now() - 7_200_000 })
    const changes: Record<string, () => Promise<Response>> = {
      distance: () =>
        syncTrack(stack, userId, [{ ...PLACE, lat: PLACE.lat + 0.2, timestamp: Date.now() - 60_000 }]),
      'a check-in': () => checkIn(stack, userId),
      'a name': () => stack.fetch('/api/event/user/sync', json({ user_id: userId, display_name: '林美玉' })),
    }
    let before = await etagOf(userId)
    for (const [what, change] of Object.entries(changes)) {
      expect({ what, taken: (await change()).ok }).toEqual({ what, taken: true })
      const after = await etagOf(userId)
      expect({ what, etag: after }).not.toEqual({ what, etag: before })
      expect({ what, etag: await etagOf(userId) }).toEqual({ what, etag: after })
      before = after
    }
  }, 120_000)

  test('all pilgrims without a point share one card, which shows no name', async () => {
    const [one, other] = [newPilgrimId(), newPilgrimId()]
    await stack.fetch('/api/event/user/sync', json({ user_id: one, display_name: '林美玉' }))
    await stack.fetch(
      '/api/event/user/sync',
      json({ user_id: other, display_name: 'Anna', transport: { bus: 40 } }),
    )
    const shared = (await card(one)).headers.get('etag')
    expect((await card(other)).headers.get('etag')).toBe(shared)
    expect((await drawn(other)).etag).toBe(shared!)
    await checkIn(stack, one)
    expect(await etagOf(one)).not.toBe(shared)
    expect((await card(other)).headers.get('etag')).toBe(shared)
  })

  test('concurrent requests for one pilgrim share one drawing', async () => {
    const userId = newPilgrimId()
    await checkIn(stack, userId)
    const answers = await Promise.all(Array.from({ length: 8 }, () => drawn(userId)))
    expect(new Set(answers.map(({ etag }) => etag)).size).toBe(1)
  })

  test('an unknown pilgrim is 404, an invalid id 400, a wrong token 401', async () => {
    const stranger = newPilgrimId()
    await sentenceOf(await draw(stranger), 404, 'not-found')
    await sentenceOf(await card(stranger), 404, 'not-found')
    // The request has not created the pilgrim.
    expect((await stack.fetch(`/api/event/user/${stranger}`)).status).toBe(404)
    await sentenceOf(await stack.fetch(drawCardEndpoint.path, json({})), 400, 'invalid-request')
    await sentenceOf(await draw('../x'), 400, 'invalid-request')
    await sentenceOf(await draw(stranger, { 'X-Admin-Token': 'wrong' }), 401, 'unauthorized')
    const userId = newPilgrimId()
    await checkIn(stack, userId)
    await dataOf(await draw(userId, admin('owner')), drawCardEndpoint)
  })

  test('no other file is served, whatever the path is', async () => {
    const userId = newPilgrimId()
    await checkIn(stack, userId)
    await drawn(userId)
    const wrong = [
      userId,
      `${userId}.PNG`,
      `${userId}.jpg`,
      '.png',
      '..png',
      '...png',
      `%2e%2e%2f${userId}.png`,
    ]
    const deeper = [
      `cards/${userId}.png`,
      `${userId}.png/`,
      '../../../etc/passwd.png',
      `${'x'.repeat(129)}.png`,
    ]
    for (const path of [...wrong, ...deeper]) {
      const answer = await rawRequest(stack, [`GET /api/event/og/${path} HTTP/1.1`, 'Host: localhost'])
      expect({ path, status: answer.status }).toEqual({ path, status: 404 })
    }
  })
})

const LIMIT = 3

describeBothStacks(
  'drawing is charged',
  (stack) => {
    const draw = (userId: string, headers: Record<string, string> = {}) =>
      stack.fetch(drawCardEndpoint.path, json({ user_id: userId }, headers))
    const card = (userId: string) => stack.fetch(`/api/event/og/${userId}.png`)
    const served = ({ status, headers }: Response) => [status, headers.get('cache-control')]

    test('are charged to the address, but not when a stored card is served (long)', async () => {
      const walkers = Array.from({ length: LIMIT + 1 }, newPilgrimId)
      for (const userId of walkers) await checkIn(stack, userId)
      const [first, last] = [walkers[0]!, walkers.at(-1)!]
      for (const userId of walkers.slice(0, LIMIT)) expect((await card(userId)).status).toBe(200)
      const refused = await card(last)
      expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 61)
      await sentenceOf(refused, 429, 'rate-limited')
      await sentenceOf(await draw(last), 429, 'rate-limited')
      // Stored cards are still served, also outdated ones.
      for (let i = 0; i < 2 * LIMIT; i++)
        expect(served(await card(first))).toEqual([200, 'public, max-age=60'])
      const before = (await card(first)).headers.get('etag')
      await stack.fetch('/api/event/user/sync', json({ user_id: first, display_name: '林美玉' }))
      const old = await card(first)
      expect([...served(old), old.headers.get('etag')]).toEqual([200, 'public, max-age=5', before])
      // Operators are not charged.
      for (const userId of [first, last]) await dataOf(await draw(userId, admin('owner')), drawCardEndpoint)
      for (const userId of [first, last])
        expect(served(await card(userId))).toEqual([200, 'public, max-age=60'])
    })
  },
  { EVENT_LIMIT_DRAWING: String(LIMIT) },
)
