/** Rules for every path: preflight, methods, request ids, bodies, paths, host names, cached responses. */
import { describe, expect, test } from 'bun:test'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { checkInEndpoint, dataEndpoint, type LiveMap } from '#shared/contracts/tracking.ts'
import { dataOf, expectCommonHeaders, sentenceOf } from '#tests/helpers/answers.ts'
import manifest from '../../package.json'
import { rawRequest } from '#tests/helpers/raw-request.ts'
import { admin, checkIn, healthOf, newPilgrimId, PLACE, readAs } from '#tests/helpers/test-stack.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { carbonEndpoint } from '#shared/contracts/reports.ts'
import { until } from '#tests/helpers/wait.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const filled = (path: string) => path.replaceAll(/:\w+/g, 'someone')
const PATHS = [...new Set(ENDPOINTS.map(({ path }) => path))]
/** The methods of a path, from the table of endpoints. */
const allowed = (address: string): string[] => {
  const takes = ({ path }: { path: string }) =>
    new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`).test(address)
  const methods: string[] = ENDPOINTS.filter(takes).map(({ method }) => method)
  return [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'])].sort()
}

const post = (body: BodyInit, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json', ...headers },
  body,
})

const DATA = '/api/event/data?limit=5000'

describeBothStacks('every address', (stack) => {
  describe('CORS', () => {
    test.each([...PATHS.map(filled), '/nowhere', '/api/event/nowhere'])('OPTIONS %s: 204', async (path) => {
      const origin = { Origin: 'https://phones.example', 'Access-Control-Request-Method': 'POST' }
      const answer = await stack.fetch(path, { method: 'OPTIONS', headers: origin })
      expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 204, text: '' })
      expectCommonHeaders(answer)
      expect(answer.headers.get('vary')).toBeNull()
      expect(answer.headers.get('access-control-allow-methods')?.split(', ')).toEqual(METHODS)
      for (const header of ['Content-Type', 'Authorization', 'X-Admin-Token', 'X-Line-User-Id', 'X-User-Id'])
        expect(answer.headers.get('access-control-allow-headers')).toContain(header)
      expect((await stack.fetch(path, { method: 'OPTIONS' })).status).toBe(204)
    })
  })

  describe('methods', () => {
    test.each(PATHS.map(filled))('%s: 405 with Allow for other methods', async (path) => {
      for (const method of METHODS.filter((method) => !allowed(path).includes(method))) {
        const answer = await stack.fetch(path, { method, headers: admin('owner') })
        expect({ method, allow: answer.headers.get('allow')?.split(', ').sort() }).toEqual({
          method,
          allow: allowed(path),
        })
        if (method === 'HEAD') expect(answer.status).toBe(405)
        else await sentenceOf(answer, 405, 'method-not-allowed')
      }
    })

    test('an unknown method is refused', async () => {
      for (const method of ['BREW', 'get', 'TRACE', 'PROPFIND'])
        for (const path of ['/health', '/api/event/checkin', '/nowhere']) {
          const answer = await rawRequest(stack, [`${method} ${path} HTTP/1.1`, 'Host: localhost']).catch(
            () => null,
          )
          // Without Caddy the server closes the connection on an unknown method name.
          if (stack.kind === 'embedded' && answer === null) continue
          expect([404, 405, 501]).toContain(answer!.status)
          expect(JSON.parse(answer!.body)).toHaveProperty('error')
          expectCommonHeaders(answer!)
        }
    })

    test('HEAD answers as GET does, without a body', async () => {
      const userId = newPilgrimId()
      await dataOf(await checkIn(stack, userId), checkInEndpoint)
      const paths = ['/health', '/api/event/data', `/api/event/user/${userId}`, '/api/event/auth/role']
      for (const path of [...paths, '/api/event/admin/status', '/api/event/user/nobody', '/nowhere']) {
        const headers = admin('owner')
        const get = await stack.fetch(path, { headers })
        const head = await stack.fetch(path, { method: 'HEAD', headers })
        expect({ path, status: head.status, text: await head.text() }).toEqual({
          path,
          status: get.status,
          text: '',
        })
        expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
        expectCommonHeaders(head)
      }
    })
  })

  describe('request ids', () => {
    const idOf = async (id: string, path: string) =>
      (await stack.fetch(path, { headers: { 'X-Request-Id': id } })).headers.get('x-request-id')

    test('a client’s own id is returned, in successes and in errors', async () => {
      for (const path of ['/health', '/nowhere', '/api/event/admin/status', '/api/event/data?limit=0'])
        for (const id of ['a', 'walk-7:retry.2_x', 'x'.repeat(64)]) expect(await idOf(id, path)).toBe(id)
    })

    test('an invalid id is replaced', async () => {
      for (const id of ['a b', 'x'.repeat(65), '<script>', 'ä', '{"a":1}'])
        expect(await idOf(id, '/health')).toMatch(/^[\da-f]{8}-[\da-f-]{27}$/)
    })
  })

  describe('a body', () => {
    const LIMIT = 102_400
    /** A check-in of exactly this many bytes. */
    const ofSize = (size: number): string => {
      const body = (padding: string) => JSON.stringify({ user_id: newPilgrimId(), ...PLACE, padding })
      const one = body('')
      return `${one.slice(0, -2)}${'é'.repeat(10)}${'x'.repeat(size - one.length - 20)}"}`
    }
    const streamed = (text: string): ReadableStream<Uint8Array> =>
      new ReadableStream({
        start(controller) {
          for (let i = 0, bytes = Buffer.from(text); i < bytes.length; i += 40_000)
            controller.enqueue(new Uint8Array(bytes.subarray(i, i + 40_000)))
          controller.close()
        },
      })
    const ways: readonly [name: string, body: (text: string) => BodyInit][] = [
      ['with Content-Length', (text) => text],
      ['in chunks', streamed],
    ]

    test.each(ways)('of 102,400 bytes is accepted, %s', async (_, body) => {
      const text = ofSize(LIMIT)
      expect(Buffer.byteLength(text)).toBe(LIMIT)
      await dataOf(await stack.fetch('/api/event/checkin', post(body(text))), checkInEndpoint)
    })

    test('of 150 MB is refused by its Content-Length, with our body', async () => {
      const head = ['POST /api/event/checkin HTTP/1.1', 'Host: localhost', 'Content-Length: 150000000']
      const { status, body } = await rawRequest(stack, head)
      expect([status, JSON.parse(body)]).toEqual([413, expect.objectContaining({ code: 'too-large' })])
    })

    test.each(ways)('of 102,401 bytes and of a megabyte is refused, %s', async (_, body) => {
      for (const size of [LIMIT + 1, 1_000_000])
        for (const path of ['/api/event/checkin', '/api/event/track/sync'])
          await sentenceOf(await stack.fetch(path, post(body(ofSize(size)))), 413, 'too-large')
    })
  })

  describe('paths', () => {
    const raw = (path: string, host = 'localhost', more: readonly string[] = []) =>
      rawRequest(stack, [`GET ${path} HTTP/1.1`, `Host: ${host}`, ...more])

    // A manipulated path matches no endpoint, or the endpoint that it spells, with all of its checks.
    test.each([
      '//api/event/admin/status',
      '/api//event/admin/status',
      '/api/event//admin/status',
      '/api/event/admin%2fstatus',
      '/api/event/admin%2Fstatus',
      '/api/event/x/../admin/status',
      '/api/event/%2e%2e/event/admin/status',
      '/api/event/./admin/status',
      '/api/event/admin/status/',
      '/API/EVENT/ADMIN/STATUS',
      '/api/event/admin/status;a=b',
      '/ab/api/event/admin/status',
      '/api/event/admin\\status',
      '/api/event/data/../admin/status',
      '/api/event/data%2f..%2fadmin%2fstatus',
    ])('%s: not without a token', async (path) => {
      const { status, headers, body } = await raw(path)
      expect([401, 404]).toContain(status)
      expectCommonHeaders({ headers })
      expect(JSON.parse(body)).toHaveProperty('error')
    })

    test.each([
      '/livez',
      '/readyz',
      '/metrics',
      '/metrics/',
      '/METRICS',
      '/readyz/',
      '/api/..%2fmetrics',
      '/metrics?x=1',
      '//metrics',
      '/%6detrics',
      '/./metrics',
      '/x/../metrics',
      '/x/%2e%2e/metrics',
      '/x/..\\metrics',
      '/\\metrics',
      '/api/event/data/../../../metrics',
      '/api/event/user/%2e%2e/%2e%2e/%2e%2e/metrics',
      '/x/.%2e/livez',
      '/api/event/checkin\\..\\..\\..\\readyz',
    ])('%s: 404, it is for the inside', async (path) => {
      const { status, headers, body } = await raw(path)
      expect({ status, body }).toEqual({ status: 404, body: expect.stringContaining('/api/event/docs') })
      expectCommonHeaders({ headers })
    })

    test.each(['/api/event/data/', '/health/', '/api/event/user/someone/', '/Health', '/api/event/'])(
      '%s: 404, which says where the API is documented',
      async (path) => {
        const { status, headers, body } = await raw(path)
        const sentence = await sentenceOf({ status, headers, text: async () => body }, 404, 'not-found')
        expect(sentence).toEndWith('The API is documented at /api/event/docs.')
      },
    )

    test('/index.html is the page at /', async () => {
      const [page, named] = [await raw('/'), await raw('/index.html')]
      expect(named).toMatchObject({ status: 200, body: page.body })
    })

    test('the length of the host does not change the path', async () => {
      const served = stack.kind === 'embedded'
      for (const host of ['x', 'xy', 'a.b', '', 'x:1', 'a-name-that-is-rather-long.example.org']) {
        expect((await raw('/health', host)).status).toBe(served ? 200 : 421)
        expect((await raw('/api/event/admin/status', host)).status).toBe(served ? 401 : 421)
        // The path as seen by a router that counts from the start of the URL.
        for (const path of ['/ab/health', '/a/api/event/data', '/abcdefghi/health'])
          expect((await raw(path, host)).status).toBe(served ? 404 : 421)
      }
    })

    test('a request without a host is answered, without source code', async () => {
      const { status, body } = await rawRequest(stack, ['GET /health HTTP/1.0'])
      expect(body).not.toContain('<')
      expect(status).toBe(stack.kind === 'embedded' ? 200 : 421)
    })
  })

  test('both host names answer over HTTPS, and neither over plain HTTP', async () => {
    for (const host of ['localhost', '127.0.0.1'] as const) {
      expect((await stack.fetch('/health', {}, host)).status).toBe(200)
      const plain = await fetch(`http://${host}:${stack.port}/health`).catch(() => null)
      expect(plain?.status ?? 400).toBe(400)
    }
  })

  test('health is flat for monitors, and enveloped for the rest', async () => {
    const answer = await stack.fetch('/health')
    expect(answer.status).toBe(200)
    const { ok, data, ...flat } = (await answer.json()) as Record<string, unknown>
    expect(ok).toBe(true)
    expect(flat).toEqual(data as typeof flat)
    const version = manifest.version
    expect(await healthOf(stack)).toMatchObject({ status: 'ok', db: 'ok', kv: 'ok', objects: 'ok', version })
  })

  describe('cached answers', () => {
    test('a client with the current ETag gets 304 without a body', async () => {
      const headers = admin('manager')
      const path = '/api/event/admin/carbon'
      const { first, again, tag } = await until(
        async () => {
          const first = await stack.fetch(path, { headers })
          const tag = first.headers.get('etag')!
          const again = await stack.fetch(path, { headers: { ...headers, 'If-None-Match': tag } })
          return again.status === 304 && { first, again, tag }
        },
        'no flush between two requests',
        { everyMs: 50 },
      )
      expect(again.headers.get('etag')).toBe(tag)
      expect(again.headers.get('cache-control')).toBe('private, no-cache')
      expect(await again.text()).toBe('')
      expectCommonHeaders(again)
      await dataOf(first, carbonEndpoint)
    })

    test('HEAD answers as GET does, without the body', async () => {
      const head = await stack.fetch(DATA, { method: 'HEAD' })
      expect({ status: head.status, text: await head.text() }).toEqual({ status: 200, text: '' })
      expect(head.headers.get('etag')).toMatch(/^"\w+"$/)
      expect(head.headers.get('content-type')).toStartWith('application/json')
      expectCommonHeaders(head)
    })

    test('the public never gets an operator’s answer, in any order of requests', async () => {
      const userId = newPilgrimId()
      await checkIn(stack, userId)
      const headers = admin('volunteer')
      const map = async (init: RequestInit): Promise<LiveMap> =>
        dataOf(await stack.fetch(DATA, init), dataEndpoint)
      // Each replica reads a new position at its next refresh; public and operators' responses are cached
      // separately.
      const shown = async () =>
        (await map({ headers })).points.some((point) => point.userId === userId) &&
        (await map({})).points.length > 0
      await until(
        async () => (await Promise.all([shown(), shown(), shown(), shown()])).every(Boolean),
        'the pilgrim to be on the map',
      )
      for (let i = 0; i < 6; i++) {
        const [open, full] = await Promise.all([map({}), map({ headers })])
        expect(open.points.length).toBeGreaterThan(0)
        for (const point of open.points)
          expect(Object.keys(point).sort()).toEqual(['id', 'lat', 'lng', 'recorded_at'])
        for (const point of full.points) expect(point).toHaveProperty('userId')
      }
      await sentenceOf(
        await stack.fetch(DATA, { headers: { 'X-Admin-Token': 'wrong' } }),
        401,
        'unauthorized',
      )
    })

    test('a cached answer needs a token and is charged to it like any other', async () => {
      const headers = admin('owner')
      const read = () => stack.fetch('/api/event/admin/timeline', { headers })
      const answers = await Promise.all(Array.from({ length: 31 }, read))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(30)
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(1)
      await sentenceOf(await stack.fetch('/api/event/admin/timeline'), 401, 'unauthorized')
      await sentenceOf(await readAs(stack, 'volunteer', 'admin/carbon'), 403, 'forbidden')
    })
  })
})
