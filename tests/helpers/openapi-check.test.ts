/** An answer that differs from the OpenAPI document fails the test that requested it. */
import { expect, test } from 'bun:test'
import { described } from './openapi-check.ts'
import { rejection } from './rejection.ts'

const answer = (body: unknown, status: number) => Response.json(body, { status })
const POINT = { id: 'a', lat: 1, lng: 2, recorded_at: '2026-04-12T04:00:00.000Z' }
const map = (point: object) => ({
  ok: true,
  data: { points: [point], generated_at: '2026-04-12T04:00:00.000Z' },
})

test.each([
  ['GET', '/api/event/data?limit=1', answer(map(POINT), 200)],
  ['HEAD', '/api/event/data', new Response(null, { status: 200 })],
  ['GET', '/api/event/data', new Response(null, { status: 304 })],
  ['POST', '/api/event/checkin', answer({ error: 'A sentence.', code: 'paused' }, 403)],
  ['PATCH', '/api/event/checkin', answer({ error: 'no such method' }, 405)],
  ['GET', '/nowhere', answer({}, 418)],
])('%s %s as documented passes', async (method, path, response) => {
  expect(await described(path, method, response)).toBe(response)
})

test.each([
  ['a status', 'GET', '/api/event/data', answer(map(POINT), 201), '201'],
  ['a status of HEAD', 'HEAD', '/api/event/data', new Response(null, { status: 418 }), '418'],
  [
    'a field that is missing',
    'GET',
    '/api/event/data',
    answer(map({ ...POINT, lat: undefined }), 200),
    "'lat'",
  ],
  ['a field too many', 'GET', '/api/event/data', answer(map({ ...POINT, phone: '1' }), 200), 'additional'],
  [
    'a time in another form',
    'GET',
    '/api/event/data',
    answer(map({ ...POINT, recorded_at: '2026-04-12T04:00:00+00:00' }), 200),
    'pattern',
  ],
  ['an error without a sentence', 'POST', '/api/event/checkin', answer({ error: 1 }, 400), 'string'],
  ['a media type', 'GET', '/api/event/og/someone.png', new Response('x'), 'image/png'],
])('%s that it does not have', async (_, method, path, response, named) => {
  const { message } = (await rejection(described(path, method, response))) as Error
  expect(message).toContain(named === 'image/png' ? 'as nothing' : named)
})
