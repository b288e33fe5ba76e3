/** Share cards over HTTP: drawn when something on them changes, and kept otherwise. */
import { expect, test } from 'bun:test'
import { CARD_SIZE, drawCardEndpoint } from '#shared/contracts/cards.ts'
import { dataOf, expectCommonHeaders, sentenceOf } from '#tests/helpers/answers.ts'
import { rawRequest } from '#tests/helpers/raw-request.ts'
import { admin, checkIn, flushed, newPilgrim, PLACE, syncTrack } from '#tests/helpers/test-stack.ts'
import { describeWorlds } from '#tests/helpers/open-test-stack.ts'
import { json } from './requests.ts'

describeWorlds('share cards', (world) => {
  const draw = (userId: string, headers: Record<string, string> = {}) =>
    world.fetch(drawCardEndpoint.path, json({ user_id: userId }, headers))
  const drawn = async (userId: string) => dataOf(await draw(userId), drawCardEndpoint)
  const card = (userId: string, init: RequestInit = {}) => world.fetch(`/api/event/og/${userId}.png`, init)

  test('a card is drawn for a known pilgrim, and served as it is stored', async () => {
    const userId = `Pilgrim:${crypto.randomUUID()}@walk`
    await checkIn(world, userId)
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

  test('a known pilgrim without a card gets one drawn, also one who only has a name', async () => {
    const userId = newPilgrim()
    await world.fetch('/api/event/user/sync', json({ user_id: userId, display_name: 'محمد' }))
    expect((await card(userId)).status).toBe(200)
    const walker = newPilgrim()
    await checkIn(world, walker)
    expect((await card(walker, { method: 'HEAD' })).status).toBe(200)
  })

  test('unchanged facts keep the card, the flush included; a change draws another one', async () => {
    const userId = newPilgrim()
    await checkIn(world, userId)
    const now = Date.now()
    const track = Array.from({ length: 20 }, (_, i) => ({
      lat: PLACE.lat + i * 0.002,
      lng: PLACE.lng,
      timestamp: now - 3_600_000 + i * 150_000,
    }))
    await syncTrack(world, userId, track)
    const first = await drawn(userId)
    expect((await drawn(userId)).etag).toBe(first.etag)
    await flushed(world)
    expect((await drawn(userId)).etag).toBe(first.etag)
    await world.fetch('/api/event/user/sync', json({ user_id: userId, display_name: '林美玉' }))
    // What is stored stays until somebody asks for a new one.
    expect((await card(userId)).headers.get('etag')).toBe(first.etag)
    const named = await drawn(userId)
    expect(named.etag).not.toBe(first.etag)
    expect((await card(userId)).headers.get('etag')).toBe(named.etag)
    await syncTrack(world, userId, [{ lat: PLACE.lat + 0.1, lng: PLACE.lng, timestamp: now - 60_000 }])
    expect((await drawn(userId)).etag).not.toBe(named.etag)
  })

  test('many at once for one pilgrim are one drawing', async () => {
    const userId = newPilgrim()
    await checkIn(world, userId)
    const answers = await Promise.all(Array.from({ length: 8 }, () => drawn(userId)))
    expect(new Set(answers.map(({ etag }) => etag)).size).toBe(1)
  })

  test('nobody knows a pilgrim: 404; a faulty id: 400; a wrong token: 401', async () => {
    const stranger = newPilgrim()
    await sentenceOf(await draw(stranger), 404, 'not-found')
    await sentenceOf(await card(stranger), 404, 'not-found')
    // Asking has not made them known.
    expect((await world.fetch(`/api/event/user/${stranger}`)).status).toBe(404)
    await sentenceOf(await world.fetch(drawCardEndpoint.path, json({})), 400, 'invalid-request')
    await sentenceOf(await draw('../x'), 400, 'invalid-request')
    await sentenceOf(await draw(stranger, { 'X-Admin-Token': 'wrong' }), 401, 'unauthorized')
    const userId = newPilgrim()
    await checkIn(world, userId)
    await dataOf(await draw(userId, admin('owner')), drawCardEndpoint)
  })

  test('nothing else is served, whatever the path says', async () => {
    const userId = newPilgrim()
    await checkIn(world, userId)
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
      const answer = await rawRequest(world, [`GET /api/event/og/${path} HTTP/1.1`, 'Host: localhost'])
      expect({ path, status: answer.status }).toEqual({ path, status: 404 })
    }
  })
})
