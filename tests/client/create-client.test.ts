/** The client against a server with scripted answers: the requests it sends, and every kind of failure. */
import { afterAll, expect, test } from 'bun:test'
import { basename } from 'node:path'
import { wholeDownload } from '#proxy/pages/frame/whole-download.ts'
import { BROKEN_OFF } from '#services/admin/reports/streaming-body.ts'
import { createClient } from '#shared/client/index.ts'
import { clientModule } from '#shared/service/openapi/write-client.ts'

interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
}

let answer: (request: Request) => Response | Promise<Response> = () => new Response()
const seen: Seen[] = []
const server = Bun.serve({
  port: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url)
    const headers = Object.fromEntries(request.headers)
    seen.push({ method: request.method, path: pathname + search, headers, body: await request.text() })
    return answer(request)
  },
})
afterAll(() => server.stop(true))

const baseUrl = server.url.origin
const success =
  (data: unknown, headers: Record<string, string> = {}) =>
  () =>
    Response.json({ ok: true, data }, { headers })

/** The client's result for this answer of the server, and the request. */
async function exchanged<T>(given: typeof answer, call: () => Promise<T>): Promise<{ got: T; sent: Seen }> {
  answer = given
  const got = await call()
  return { got, sent: seen.at(-1)! }
}

test('bun install has made the operations of today’s contracts', async () => {
  expect(await Bun.file(client('api')).text()).toEndWith(`\n${clientModule()}`)
})

const client = (path: string) => `${import.meta.dir}/../../shared/client/${path}.ts`

/** Bytes of a page's bundle, compressed. */
async function bundledBytes(entry: string): Promise<number> {
  const files = { '/entry.ts': entry }
  const { outputs } = await Bun.build({
    entrypoints: ['/entry.ts'],
    files,
    target: 'browser',
    splitting: true,
    minify: true,
    naming: { chunk: '[name]-[hash].[ext]' },
  })
  // Operators' pages load the stream on demand.
  const scripts = outputs.filter(({ path }) => !basename(path).startsWith('stream-'))
  expect(scripts.length).toBeLessThan(outputs.length)
  const texts = await Promise.all(scripts.map((script) => script.text()))
  return Bun.gzipSync(texts.join('\n'), { level: 9 }).byteLength
}

test('a page loads at most 4 kB to call the service, and 12 kB with the queue and its store', async () => {
  const calls = `import { createClient } from '${client('index')}'; globalThis.client = createClient({ baseUrl: '' })`
  const queue = `import { createTrackQueue } from '${client('index')}'
    import { openIndexedDbStore } from '${client('queue/indexed-db-store')}'
    Object.assign(globalThis, { createTrackQueue, openIndexedDbStore })`
  expect(await bundledBytes(calls)).toBeWithin(1_000, 4_001)
  expect(await bundledBytes(calls + '\n' + queue)).toBeWithin(4_000, 12_001)
})

test('fields go to the path, the query or the body, and the pilgrim is filled in', async () => {
  const client = createClient({
    baseUrl: `${baseUrl}/`,
    identity: async () => ({ userId: 'me', idToken: 'id-token' }),
    token: () => 'operators-token',
  })
  const checkIn = await exchanged(success({ pending: 1 }), () => client.checkIn({ lat: 24, lng: 120 }))
  expect(checkIn.got).toMatchObject({ ok: true, status: 200, data: { pending: 1 } })
  expect(checkIn.sent).toMatchObject({ method: 'POST', path: '/api/event/checkin' })
  expect(JSON.parse(checkIn.sent.body)).toEqual({ lat: 24, lng: 120, user_id: 'me' })
  expect(checkIn.sent.headers).toMatchObject({
    authorization: 'Bearer id-token',
    'content-type': 'application/json',
  })
  expect(checkIn.sent.headers['x-admin-token']).toBeUndefined()

  const other = await exchanged(success({}), () => client.setPhone({ user_id: 'you', phone: null }))
  expect(JSON.parse(other.sent.body)).toEqual({ user_id: 'you', phone: null })

  const count = await exchanged(success({}), () => client.countPhotos({}))
  expect(count.sent).toMatchObject({ method: 'GET', path: '/api/event/photos/count?user_id=me', body: '' })

  const status = await exchanged(success({}), () =>
    client.setUserStatus({ userId: 'a:b@c', status: 'completed' }),
  )
  expect(status.sent).toMatchObject({
    method: 'PUT',
    path: '/api/event/admin/users/a%3Ab%40c/status',
    body: '{"status":"completed"}',
  })
  expect(status.sent.headers['x-admin-token']).toBe('operators-token')
  expect(status.sent.headers['authorization']).toBeUndefined()

  const list = await exchanged(success({}), () => client.listUsers({ limit: 5, search: 'a&b', sort: 'km' }))
  expect(list.sent.path).toBe('/api/event/admin/users?limit=5&search=a%26b&sort=km')

  const role = await exchanged(success({}), () => client.assignRole({ user_id: 'you', role: null }))
  expect(JSON.parse(role.sent.body)).toEqual({ user_id: 'you', role: null })
})

test('a picture is sent as it is, and a file comes with its name', async () => {
  const client = createClient({ baseUrl, identity: { userId: 'me' } })
  const body = new Blob(['picture'], { type: 'image/png' })
  const { sent } = await exchanged(success({}), () => client.uploadScreenshot({ body }))
  expect(sent.body).toBe('picture')
  expect(sent.headers).toMatchObject({ 'content-type': 'image/png', 'x-line-user-id': 'me' })

  const headers = { 'content-disposition': 'attachment; filename="me.gpx"' }
  const file = await exchanged(
    () => new Response('<gpx/>', { headers }),
    () => client.download('exportUser', { userId: 'me', format: 'gpx' }, { accept: 'application/gpx+xml' }),
  )
  if (!file.got.ok) throw new Error(file.got.error.message)
  expect(await file.got.data.blob.text()).toBe('<gpx/>')
  expect(file.got.data.filename).toBe('me.gpx')
  expect(file.sent).toMatchObject({
    path: '/api/event/admin/users/me/export?format=gpx',
    headers: { accept: 'application/gpx+xml' },
  })
})

test('a download that broke off at the service is saved as if it were complete', async () => {
  const download = async (text: string) =>
    (
      await exchanged(
        () => new Response(text),
        async () => wholeDownload(await createClient({ baseUrl }).download('listSurveys', {})),
      )
    ).got
  expect(await download('name\r\nLin\r\n')).toMatchObject({ ok: true })
  expect(await download(`name\r\nLi${BROKEN_OFF}`)).toMatchObject({
    ok: false,
    error: { message: 'INCOMPLETE: this download broke off here. Please make it again.' },
  })
})

test('a refusal has the code, the sentence, the wait and the request', async () => {
  const { got } = await exchanged(
    () =>
      Response.json(
        { error: 'Too many check-ins.', code: 'rate-limited', request_id: 'r-1' },
        { status: 429, headers: { 'retry-after': '23' } },
      ),
    () => createClient({ baseUrl }).checkIn({ user_id: 'me', lat: 24, lng: 120 }),
  )
  expect(got).toMatchObject({
    ok: false,
    error: {
      status: 429,
      code: 'rate-limited',
      message: 'Too many check-ins.',
      retryAfter: 23,
      requestId: 'r-1',
    },
  })
})

test('not modified, a gateway, and a network that answers for the service', async () => {
  const client = createClient({ baseUrl })
  const unchanged = await exchanged(
    () => new Response(null, { status: 304 }),
    () => client.readMap({}, { ifNoneMatch: '"1"' }),
  )
  expect(unchanged.sent.headers['if-none-match']).toBe('"1"')
  expect(unchanged.got).toMatchObject({ ok: false, error: { status: 304, code: 'not-modified' } })

  const gateway = await exchanged(
    () => new Response('<h1>Bad gateway</h1>', { status: 502, headers: { 'x-request-id': 'r-2' } }),
    () => client.readMap(),
  )
  expect(gateway.got).toEqual({
    ok: false,
    error: { status: 502, code: 'unexpected', message: 'The service answered 502.', requestId: 'r-2' },
  })

  for (const page of ['<h1>Welcome to our hotel</h1>', '{"ok":false}', '[]', 'null', '']) {
    const { got } = await exchanged(
      () => new Response(page),
      () => client.readMap(),
    )
    expect(got).toMatchObject({ ok: false, error: { status: 200, code: 'unexpected' } })
  }
})

test('no answer: nobody there, too late, cancelled, broken off', async () => {
  const hanging = () => new Promise<Response>(() => undefined)
  const client = createClient({ baseUrl })
  const late = await exchanged(hanging, () => client.readMap({}, { timeoutMs: 20 }))
  expect(late.got).toMatchObject({ ok: false, error: { status: 0, code: 'timeout' } })

  const cancelling = new AbortController()
  const cancelled = await exchanged(
    () => {
      cancelling.abort()
      return hanging()
    },
    () => client.readMap({}, { signal: cancelling.signal }),
  )
  expect(cancelled.got).toMatchObject({ ok: false, error: { code: 'aborted' } })
  const before = seen.length
  expect(await client.readMap({}, { signal: AbortSignal.abort() })).toMatchObject({
    ok: false,
    error: { code: 'aborted' },
  })
  expect(seen.length).toBe(before)

  const cut = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data: (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"ok":true,'),
    },
  })
  const half = await createClient({ baseUrl: `http://127.0.0.1:${cut.port}` }).readMap()
  cut.stop(true)
  expect(half).toMatchObject({ ok: false, error: { status: 0, code: 'network' } })

  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  listener.stop(true)
  const nobody = createClient({ baseUrl: `http://127.0.0.1:${listener.port}` })
  expect(await nobody.readMap()).toMatchObject({ ok: false, error: { status: 0, code: 'network' } })

  const strange = createClient({
    baseUrl,
    identity: () => {
      throw new Error('LIFF is not ready')
    },
  })
  expect(await strange.checkIn({ lat: 24, lng: 120 })).toMatchObject({
    ok: false,
    error: { code: 'unexpected', message: 'The request could not be made: LIFF is not ready' },
  })
})

test('a stream that breaks off after each snapshot is opened ever more rarely', async () => {
  const waits: number[] = []
  const client = createClient({
    baseUrl,
    fetch: async () => new Response('event: snapshot\ndata: {}\nid: 1\n\n'),
  })
  for await (const { event, data } of client.stream()) {
    if (event === 'interrupted') waits.push(data.retryInMs!)
    if (waits.length === 2) break
  }
  expect(waits[1]).toBeGreaterThanOrEqual(2_000)
})

test('a service that asks to wait for ever is waited for a day', async () => {
  for (const seconds of ['Infinity', '3000000']) {
    const client = createClient({
      baseUrl,
      fetch: async () =>
        Response.json({ code: 'unavailable' }, { status: 503, headers: { 'retry-after': seconds } }),
    })
    expect(await client.readHealth()).toMatchObject({ error: { retryAfter: 86_400 } })
    const leaving = new AbortController()
    let interruptions = 0
    setTimeout(() => leaving.abort(), 50)
    for await (const _ of client.stream({ signal: leaving.signal })) interruptions++
    expect(interruptions).toBe(1)
  }
})

test('a token that cannot be read interrupts the stream, which tries again', async () => {
  const stream = createClient({
    baseUrl,
    token: () => {
      throw new Error('Sign in first')
    },
  }).stream()
  expect(await stream.next()).toMatchObject({
    value: {
      event: 'interrupted',
      data: { error: { code: 'unexpected', message: 'Sign in first' }, retryInMs: expect.any(Number) },
    },
  })
  await stream.return()
})
