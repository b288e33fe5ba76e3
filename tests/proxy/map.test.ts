/**
 * The public map through real Caddy: from the files of a real tracking service, and from tracking without
 * files.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type EventMap, mapEndpoint } from '#shared/contracts/map.ts'
import { dataOf, expectCommonHeaders, sentenceOf } from '#tests/helpers/answers.ts'
import { openTestDatabase, testRedisUrl, type TestDatabase } from '#tests/helpers/database.ts'
import { described } from '#tests/helpers/openapi-check.ts'
import { newDirectory, type Server } from '#tests/helpers/process.ts'
import { rawRequest } from '#tests/helpers/raw-request.ts'
import { type CaddyServer, startCaddy } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { startService } from '#tests/helpers/test-stack-real.ts'
import { until } from '#tests/helpers/wait.ts'

const MAP = '/api/event/map'
const ORIGIN = 'https://walk.example'
/** Paths that do not exactly match a file. */
const ELSEWHERE = [
  ...'? ?since ?since= ?since=1 ?since=abc ?since=-1 ?since=1e3 ?since=0000000000000001 ?since=%31 ?Since=1'.split(
    ' ',
  ),
  ...'?since=../../../etc/passwd ?since=..%2f..%2fmap ?since=%2e%2e/map ?since=1/../2 ?since=1%00'.split(' '),
  ...'?since={time.now.unix} ?since=1&since=2 ?since=1;since=2 ?x=1 ?since=1&x=1 / .json %2f /../map /at-1/map.json'.split(
    ' ',
  ),
]
  .map((rest) => `${MAP}${rest}`)
  .concat(
    '/API/event/map',

    '/api/event/%6dap',
    '/at-1/map.json',
    '/api/event/../event/map',
  )
/** Headers that differ between two responses to the same request. */
const OF_A_MOMENT = ['date', 'x-request-id', 'etag', 'content-length', 'transfer-encoding', 'connection']

describeOnServers('the map through Caddy', () => {
  let database: TestDatabase
  let tracking: Server
  let caddy: CaddyServer
  /** Its services allow only one origin. */
  let strict: CaddyServer
  let dir: string

  beforeAll(async () => {
    dir = await newDirectory('map')
    const [opened, redisUrl] = await Promise.all([openTestDatabase(), testRedisUrl()])
    database = opened
    tracking = await startService('tracking', {
      DATABASE_URL: database.url,
      REDIS_URL: redisUrl,
      EVENT_DATA_DIR: await newDirectory('journal'),
      EVENT_MAP_DIR: dir,
    })
    const start = (env: Record<string, string>) =>
      startCaddy({
        caddyfile: join(import.meta.dir, '../../Caddyfile'),
        env: {
          PRIMARY_HOST: 'localhost',
          ALIAS_HOST: '127.0.0.1',
          UPSTREAM_DISCOVERY: 'list',
          TRACKING_UPSTREAM: `127.0.0.1:${tracking.port}`,
          // Unknown paths are rejected by every service alike.
          ADMIN_UPSTREAM: `127.0.0.1:${tracking.port}`,
          MAP_DIR: dir,
          ...env,
        },
      })
    ;[caddy, strict] = await Promise.all([
      start({}),
      start({ EVENT_CORS_ORIGINS: `${ORIGIN}, https://b.example` }),
    ])
    await until(() => slots().length > 0, 'the first files')
  })
  afterAll(async () => {
    await Promise.all([caddy?.close(), strict?.close(), tracking?.close()])
    await database?.drop()
  })

  const slots = () => readdirSync(dir).filter((name) => name.startsWith('at-'))
  const ca = (of = caddy) => readFileSync(of.rootCertificate, 'utf8')
  const send = async (path: string, init: RequestInit = {}, to = caddy) =>
    described(
      path,
      init.method ?? 'GET',
      await fetch(`https://localhost:${to.port}${path}`, { ...init, tls: { ca: ca(to) } }),
    )
  const direct = (path: string, init: RequestInit = {}) => fetch(`${tracking.url}${path}`, init)
  const whole = async () => (await dataOf(await send(MAP), mapEndpoint)) as EventMap
  /** Number of map requests that reached tracking. */
  const counted = async (): Promise<number> => {
    const metrics = await (await direct('/metrics')).text()
    return [
      ...metrics.matchAll(/^event_http_request_duration_seconds_count\{[^}]*event\/map"[^}]*\} (\d+)$/gm),
    ].reduce((sum, [, n]) => sum + Number(n), 0)
  }
  /** Repeats a check that a new version may have interrupted. */
  async function inOneVersion(check: () => Promise<void>): Promise<void> {
    // Tracking returns a new version shortly before its files exist.
    const stateNow = async () => {
      const { headers } = await direct(MAP)
      return [Math.floor(Date.now() / 10_000), headers.get('etag'), ...slots()].join()
    }
    for (;;) {
      const before = await stateNow()
      try {
        await check()
        return
      } catch (error) {
        if (before === (await stateNow())) throw error
      }
    }
  }
  const lasting = (headers: Headers) =>
    Object.fromEntries([...headers].filter(([name]) => !OF_A_MOMENT.includes(name)))

  test('the whole map and what has changed come from files, as tracking answers them', async () => {
    await inOneVersion(async () => {
      const { version } = await whole()
      const before = await counted()
      const answers: [string, RequestInit, Response][] = []
      for (const path of [MAP, `${MAP}?since=${version}`])
        for (const encoding of ['br', 'zstd', 'gzip', 'identity', 'gzip, deflate, br, zstd'])
          for (const method of ['GET', 'HEAD']) {
            const init = {
              method,
              headers: { 'Accept-Encoding': encoding, Range: 'bytes=0-1', 'If-Match': '"x"' },
            }
            answers.push([path, init, await send(path, init)])
          }
      expect(await counted()).toBe(before)
      for (const [path, init, answer] of answers) {
        const plain = await direct(path, init)
        expect(answer.status).toBe(200)
        expect(await answer.text()).toBe(await plain.text())
        expect(answer.headers.get('etag')).toMatch(/^"\w+"$/)
        expectCommonHeaders(answer)
        const given = lasting(answer.headers)
        for (const [name, value] of Object.entries(lasting(plain.headers)))
          expect({ name, value: given[name]?.replace(/^application\/json$/, '$&;charset=utf-8') }).toEqual({
            name,
            value,
          })
        expect(
          Object.keys(given).filter((name) => /^(accept-ranges|last-modified|content-range)$/.test(name)),
        ).toEqual([])
      }
    })
  })

  test('a version that the client has is not sent again', async () => {
    await inOneVersion(async () => {
      const before = await counted()
      const headers = { 'Accept-Encoding': 'br' }
      const tag = (await send(MAP, { headers })).headers.get('etag')!
      for (const held of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        const again = await send(MAP, { headers: { ...headers, 'If-None-Match': held } })
        expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', tag])
        expect(again.headers.get('cache-control')).toBe('public, max-age=10, stale-while-revalidate=60')
        expect(again.headers.get('vary')).toBe('Accept-Encoding')
      }
      const future = new Date(Date.now() + 60_000).toUTCString()
      for (const other of [{ 'If-None-Match': '"other"' }, { 'If-Modified-Since': future }])
        expect((await send(MAP, { headers: { ...headers, ...other } })).status).toBe(200)
      expect(await counted()).toBe(before)
    })
  })

  test.each(ELSEWHERE)('%s reaches tracking or nobody, as before', async (path) => {
    await inOneVersion(async () => {
      const given = { 'X-Request-Id': 'walk-1', 'Accept-Encoding': 'identity' }
      const head = Object.entries({ Host: 'localhost', ...given }).map(([name, value]) => `${name}: ${value}`)
      const through = await rawRequest({ port: caddy.port, ca: ca() }, [`GET ${path} HTTP/1.1`, ...head])
      const plain = await direct(path, { headers: given })
      expect({ status: through.status, body: through.body }).toEqual({
        status: plain.status,
        body: await plain.text(),
      })
      expect(through.headers.get('etag')).toBe(plain.headers.get('etag'))
    })
  })

  test('other methods are tracking’s: a preflight, and 405', async () => {
    const preflight = await send(MAP, {
      method: 'OPTIONS',
      headers: { Origin: ORIGIN, 'Access-Control-Request-Method': 'GET' },
    })
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([
      204,
      expect.stringContaining('GET'),
    ])
    const post = await send(MAP, { method: 'POST', body: '{}' })
    expect(post.headers.get('allow')).toContain('GET')
    await sentenceOf(post, 405, 'method-not-allowed')
  })

  test('with listed origins an answer says for which one it is, and caches keep it apart', async () => {
    const before = await counted()
    const from = async (headers: Record<string, string>) => {
      const answer = await send(MAP, { headers }, strict)
      return ['access-control-allow-origin', 'access-control-allow-credentials', 'vary'].map((name) =>
        answer.headers.get(name),
      )
    }
    for (const encoding of ['br', 'identity']) {
      const accept = { 'Accept-Encoding': encoding }
      expect(await from({ ...accept, Origin: ORIGIN })).toEqual([ORIGIN, 'true', 'Accept-Encoding, Origin'])
      expect(await from({ ...accept, Origin: 'https://b.example' })).toEqual([
        'https://b.example',
        'true',
        'Accept-Encoding, Origin',
      ])
      for (const Origin of ['https://evil.example', 'null', `${ORIGIN},https://b.example`])
        expect(await from({ ...accept, Origin })).toEqual([null, null, 'Accept-Encoding, Origin'])
      expect(await from(accept)).toEqual([null, null, 'Accept-Encoding, Origin'])
    }
    expect(await counted()).toBe(before)
  })

  test('without a file tracking answers; without tracking, too, it is a 503 that nobody keeps', async () => {
    await inOneVersion(async () => {
      const aside = await newDirectory('aside')
      for (const name of slots()) renameSync(join(dir, name), join(aside, name))
      try {
        const before = await counted()
        const answer = await send(MAP)
        expect(await counted()).toBe(before + 1)
        expect(answer.headers.get('etag')).toMatch(/-\w+"$/)
        expect(answer.headers.get('cache-control')).toBe('public, max-age=10, stale-while-revalidate=60')
        expect(answer.headers.get('vary')).toBe('Accept-Encoding')
        expectCommonHeaders(answer)
      } finally {
        for (const name of readdirSync(aside)) renameSync(join(aside, name), join(dir, name))
      }
    })
  })

  test('a killed tracking leaves answers that tell their time, for 40 s', async () => {
    await tracking.stop('SIGKILL')
    const killedMs = Date.now()
    const map = await whole()
    expect(Date.parse(map.as_of)).toBeWithin(killedMs - 15_000, killedMs)
    const last = Math.max(...slots().map((name) => Number(name.slice('at-'.length))))
    // The proxy serves the slot of its clock, so nothing is served after the last slot.
    expect(last * 10_000 + 10_000).toBeLessThanOrEqual(Date.parse(map.as_of) + 50_000)
    for (const name of slots()) rmSync(join(dir, name))
    const refused = await send(MAP)
    expect(refused.headers.get('cache-control')).toBe('no-store')
    await sentenceOf(refused, 503, 'unavailable')
  })
})
