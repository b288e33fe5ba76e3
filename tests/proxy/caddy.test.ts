/** Caddy in front of servers that echo requests: the behaviour of the proxy itself. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { sentenceOf } from '#tests/helpers/answers.ts'
import { rawRequest } from '#tests/helpers/raw-request.ts'
import { type CaddyServer, freePort, startCaddy } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'

const CHECKIN = '/api/event/checkin'
const LIMIT = 102_400
const INGEST = '/api/event/ingest/a-key-of-a-tracker-in-the-path--/overland'
const PHOTO = '/api/event/ingest/a-key-of-a-tracker-in-the-path--/owntracks'

/** A request as seen behind the proxy. */
interface Seen {
  readonly port: number
  readonly body: string
  readonly headers: Record<string, string>
}

describeOnServers('Caddy', () => {
  const replicas = [echo(), echo(), echo()]
  const ports = replicas.map(({ port }) => port!)
  const admin = echo()
  const nobody = freePort()
  /** Reads a request and closes the connection, by a reset or gracefully. */
  const dying = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket, bytes) {
        if (bytes.includes('reset')) socket.terminate()
        else socket.end('HTTP/1.1 200 OK\r\n')
      },
    },
  })
  let caddy: CaddyServer

  const start = async (tracking: readonly number[]) => {
    const started = await startCaddy({
      caddyfile: join(import.meta.dir, '../../Caddyfile'),
      env: {
        PRIMARY_HOST: 'localhost',
        ALIAS_HOST: '127.0.0.1',
        UPSTREAM_DISCOVERY: 'list',
        TRACKING_UPSTREAM: tracking.map((port) => `127.0.0.1:${port}`).join(' '),
        ADMIN_UPSTREAM: `127.0.0.1:${admin.port}`,
        LINE_BOT_UPSTREAM: `127.0.0.1:${nobody}`,
        SURVEY_PROFILE_UPSTREAM: `127.0.0.1:${dying.port}`,
      },
    })
    // Each host's certificate is issued separately; that of the alias may be the later one.
    await until(
      async () => (await send('/health', {}, '127.0.0.1', started)).ok,
      'the certificate of the alias',
    )
    return started
  }
  beforeAll(async () => void (caddy = await start(ports)))
  afterAll(async () => {
    dying.stop(true)
    await Promise.all([caddy?.close(), ...[...replicas, admin].map((server) => server.stop(true))])
  })

  const authority = (of = caddy) => readFileSync(of.rootCertificate, 'utf8')
  const send = (path: string, init: RequestInit = {}, host = 'localhost', to = caddy) =>
    fetch(`https://${host}:${to.port}${path}`, { ...init, tls: { ca: authority(to) } })
  const post = (body: BodyInit, headers: Record<string, string> = {}, to = caddy) =>
    send(CHECKIN, { method: 'POST', body, headers }, '127.0.0.1', to)
  const raw = (head: readonly string[]) => rawRequest({ port: caddy.port, ca: authority() }, head)
  const seen = async (response: Response) => (await response.json()) as Seen

  test('a client cannot set its own address by a header', async () => {
    const { headers } = await seen(await post('{}', { 'X-Forwarded-For': '203.0.113.9' }))
    expect(headers['x-forwarded-for']).toBe('127.0.0.1')
  })

  test('a request id in several headers is replaced, so that no answer contains text of the client (long)', async () => {
    const EVIL = '","code":"evil'
    const twice = (first: string, second: string) => [`X-Request-Id: ${first}`, `X-Request-Id: ${second}`]
    const ids = [
      twice('walk-1', EVIL),
      twice(EVIL, 'walk-1'),
      twice('walk-1', 'walk-2'),
      [`X-Request-Id: ${EVIL}`],
    ]
    // Caddy's own errors of each kind, and a request that reaches a service.
    const heads = [
      ['GET /metrics HTTP/1.1', 'Host: localhost'],
      ['GET /api/event/line-usage HTTP/1.1', 'Host: localhost'],
      ['BREW /health HTTP/1.1', 'Host: localhost'],
      ['GET /health HTTP/1.1', 'Host: other.example'],
      [`POST ${CHECKIN} HTTP/1.1`, 'Host: localhost', 'Content-Length: 200000'],
      ['GET /health HTTP/1.1', 'Host: localhost'],
    ]
    for (const head of heads)
      for (const id of ids) {
        const answer = await raw([...head, ...id])
        const body = JSON.parse(answer.body) as { request_id?: string; headers?: Record<string, string> }
        expect(body.request_id ?? body.headers!['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
        expect(answer.body).not.toContain('evil')
      }
  })

  test.each([
    'X-Request-Id',
    'Origin',
    'Referer',
    'User-Agent',
    'Cookie',
    'Accept',
    'X-Forwarded-Host',
    'Via',
  ])('its refusals tell nothing of what was sent as %s, in the path or as the host', async (name) => {
    const hostile = `<"evil>`
    for (const head of [
      [`GET /metrics/${encodeURIComponent(hostile)}evil?evil HTTP/1.1`, 'Host: localhost'],
      ['EVIL /evil HTTP/1.1', 'Host: localhost'],
      ['GET /evil HTTP/1.1', 'Host: evil.example'],
    ]) {
      const { body, headers } = await raw([...head, `${name}: ${hostile}`, `${name}: ${hostile}`])
      expect(Object.keys(JSON.parse(body) as object).sort()).toEqual(['code', 'error', 'request_id'])
      expect(`${body} ${JSON.stringify([...headers])}`).not.toMatch(/evil/i)
    }
  })

  test.each([
    [CHECKIN, LIMIT],
    [INGEST, 1_048_576],
    [PHOTO, 12_582_912],
    [`${PHOTO}/`, 12_582_912],
  ])('%s takes %d bytes and refuses one more, whether the length is declared or not', async (path, limit) => {
    const upload = (body: BodyInit) => send(path, { method: 'POST', body })
    for (const body of ['a'.repeat(limit), streamed('a'.repeat(limit))])
      expect((await seen(await upload(body))).body).toHaveLength(limit)
    for (const body of ['a'.repeat(limit + 1), streamed('a'.repeat(limit + 1))])
      expect(await sentenceOf(await upload(body), 413, 'too-large')).toContain(`${limit}`)
  })

  // Only tracker apps may send more, whatever the path looks like.
  test.each([
    '/api/event/ingest/..%2fcheckin',
    '/api/event/ingest/%2e%2e/checkin',
    '/api/event/ingest/../checkin',
    '/api/event/ingest/key/owntracks/..%2f..%2f..%2fcheckin',
    '/api/event/ingest/key/owntracks/%2e%2e/../../checkin/',
    '/api/event/ingest%2f..%2fcheckin',
    '//api/event/ingest/..//checkin',
    '/API/event/Ingest/..%2FCHECKIN',
    '/api/event/ingest',
    '/api/event/ingestion/key/owntracks',
  ])('a body of 500 kB is refused at once at %s', async (path) => {
    const { status } = await raw([`POST ${path} HTTP/1.1`, 'Host: localhost', 'Content-Length: 500000'])
    expect(status).toBe(413)
  })

  test('a service that does not answer is a 503 with Retry-After', async () => {
    const response = await send('/api/event/line-usage', { headers: { 'X-Admin-Token': 'a-secret-token' } })
    await sentenceOf(response, 503, 'unavailable')

    const log = () => readFileSync(join(caddy.dir, 'server.log'), 'utf8')
    await until(() => log().includes('/api/event/line-usage'), 'the refusal to be logged')
    expect(log()).not.toContain('a-secret-token')
  })

  test('a service that dies during a request is a 503, because the request is not at fault', async () => {
    for (const body of ['{"how":"reset"}', '{"how":"cut"}'])
      await sentenceOf(await send('/api/event/privacy', { method: 'POST', body }), 503, 'unavailable')
  })

  test('every check-in is proxied with its own body when one replica does not listen', async () => {
    await using front = await start([...ports, nobody])
    const bodies = Array.from({ length: 200 }, (_, index) => `${index}`.repeat(1 + (index % 90)))
    const answers = await Promise.all(bodies.map(async (body) => seen(await post(body, {}, front))))
    expect(answers.map(({ body }) => body)).toEqual(bodies)
    expect(new Set(answers.map(({ port }) => port))).toEqual(new Set(ports))
  })

  test('aborted or oversized uploads take no replica out of service', async () => {
    const oversized = Array.from({ length: 10 }, () => post(streamed('a'.repeat(LIMIT + 1))))
    expect((await Promise.all(oversized)).map(({ status }) => status)).toEqual(Array(10).fill(413))
    for (const line of [`POST ${CHECKIN} HTTP/1.1`, 'GET /api/event/data HTTP/1.1'])
      for (const length of ['Content-Length: 5000', 'Transfer-Encoding: chunked'])
        await breakOff(caddy, authority(), [line, 'Host: localhost', length, '', '3', 'abc', ''])

    const answers = await Promise.all(Array.from({ length: 60 }, async () => seen(await post('{}'))))
    expect(new Set(answers.map(({ port }) => port))).toEqual(new Set(ports))
  })
})

/** A server that echoes requests. */
function echo() {
  return Bun.serve({
    hostname: '127.0.0.1',
    port: freePort(),
    fetch: async (request, server) =>
      Response.json({
        port: server.port!,
        body: await request.text(),
        headers: Object.fromEntries(request.headers),
      } satisfies Seen),
  })
}

/** A body of undeclared length. */
const streamed = (text: string): ReadableStream => new Response(text).body!.pipeThrough(new TransformStream())

/** Sends the beginning of a request and then closes the connection. */
async function breakOff({ port }: CaddyServer, ca: string, lines: readonly string[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', ca })
  socket.once('secureConnect', () => socket.end(lines.join('\r\n')))
  socket.once('error', reject)
  socket.once('close', () => resolve())
  socket.resume()
  await promise
}
