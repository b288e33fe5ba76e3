/**
 * Headers of every response, for any origin and for a list of origins: generated, cached, and error
 * responses.
 */
import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { crossOrigin, preflight, requestIdOf, stamp, takeHeaders } from '#shared/service/http/headers.ts'

const LISTED = ['https://a.example', 'https://b.example:8443']

/** A router with one answer of each kind. */
function open(origins: readonly string[]) {
  const app = new Elysia()
    .use(crossOrigin(origins))
    .onError(({ request, set }) =>
      request.method === 'OPTIONS'
        ? preflight(set, requestIdOf(request))
        : stamp(new Response('refused', { status: 404 }), set, requestIdOf(request)),
    )
    .get('/made', ({ set }) => new Response('made', { headers: takeHeaders(set, 'id') }))
    .get('/found', ({ set }) => stamp(new Response('found', { headers: { Vary: 'Accept' } }), set, 'id'))
  return (path: string, origin: string | null, method = 'GET'): Promise<Response> =>
    app.handle(
      new Request(`http://event.test${path}`, { method, headers: origin === null ? {} : { Origin: origin } }),
    )
}

test('any origin: no Vary header, and no credentials', async () => {
  const ask = open(['*'])
  for (const origin of [null, 'https://a.example'])
    for (const [path, method] of [
      ['/made', 'GET'],
      ['/none', 'GET'],
      ['/made', 'OPTIONS'],
    ] as const) {
      const { headers } = await ask(path, origin, method)
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-expose-headers')).toContain('ETag')
      expect(headers.get('vary')).toBeNull()
      expect(headers.get('access-control-allow-credentials')).toBeNull()
    }
})

test('listed origins are echoed with credentials, and no others', async () => {
  const ask = open(LISTED)
  for (const path of ['/made', '/none'])
    for (const origin of LISTED) {
      const { headers } = await ask(path, origin)
      expect(headers.get('access-control-allow-origin')).toBe(origin)
      expect(headers.get('access-control-allow-credentials')).toBe('true')
      expect(headers.get('vary')).toBe('Origin')
    }
  const strangers = [
    'null',
    'http://a.example',
    'https://a.example.evil',
    'https://A.example',
    'constructor',
    '*',
  ]
  for (const origin of [null, ...strangers]) {
    const { headers } = await ask('/made', origin)
    expect(headers.get('access-control-allow-origin')).toBeNull()
    expect(headers.get('access-control-allow-credentials')).toBeNull()
    expect(headers.get('vary')).toBe('Origin')
  }
})

test('an existing Vary header is extended', async () => {
  expect((await open(LISTED)('/found', null)).headers.get('vary')).toBe('Accept, Origin')
})

test('a preflight is answered for every address, and may be cached for a day', async () => {
  const answer = await open(LISTED)('/none', LISTED[0]!, 'OPTIONS')
  expect(answer.status).toBe(204)
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'access-control-allow-origin': LISTED[0]!,
    'access-control-allow-credentials': 'true',
    'access-control-max-age': '86400',
    vary: 'Origin',
  })
})

test('a valid request id of a client is used', () => {
  const idOf = (id: string) => requestIdOf(new Request('http://a/', { headers: { 'X-Request-Id': id } }))
  expect(idOf('walk-7:retry.2_x')).toBe('walk-7:retry.2_x')
  expect(idOf('a b')).toMatch(/^[\da-f]{8}-/)
})
