/** Slow clients do not delay others, and are disconnected after a limited time. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect, type TLSSocket } from 'node:tls'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import { checkIn, newPilgrimId, type TestStack } from '#tests/helpers/test-stack.ts'
import { openEmbeddedTestStack, STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import { openRealTestStack } from '#tests/helpers/test-stack-real.ts'

const OF_EACH = 30
/**
 * Both give a head 10 s, and are late on a busy machine (11.5 s on a quiet one); without a limit it would
 * never end.
 */
const HEAD_MS = 60_000
/** Caddy's time limit for every body, and a shorter one that is still enough for {@link TRACK_S}. */
const CADDY_BODY = 'read_body 120s'
const SHORTER_BODY = 'read_body 60s'
/**
 * A service disconnects a client that has sent almost nothing for 10 s; Caddy's limit applies to every body.
 * Both are late on a busy machine; without a limit a body would last two minutes.
 */
const BODY_MS: Record<TestStack['kind'], number> = { embedded: 30_000, real: 90_000 }
/** A track of a day's walk on a bad network. */
const TRACK_BYTES = 84_917
const TRACK_S = 34

let stacks: TestStack[] = []
beforeAll(async () => {
  const changeCaddyfile = (written: string): string => {
    expect(written.split(CADDY_BODY)).toHaveLength(2)
    return written.replace(CADDY_BODY, SHORTER_BODY)
  }
  const real = embeddedOnly ? [] : [openRealTestStack({ changeCaddyfile })]
  stacks = await Promise.all([openEmbeddedTestStack(), ...real])
}, 2 * STACK_TIMEOUT_MS)
afterAll(async () => void (await Promise.all(stacks.map((stack) => stack.close()))))

interface Slow {
  readonly socket: TLSSocket
  /** Time until the server closed the connection (ms), and its response. */
  readonly end: Promise<{ ms: number; said: string }>
}

/** Sends `first`, then a byte of `rest` each second. @param reads whether it reads the response */
async function dawdle({ port, ca }: TestStack, first: string, rest: string, reads = true): Promise<Slow> {
  const opened = performance.now()
  let said = ''
  const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', ca })
  const { promise, resolve } = Promise.withResolvers<{ ms: number; said: string }>()
  let next = 0
  const drip = setInterval(
    () => rest !== '' && socket.writable && socket.write(rest[next++ % rest.length]!),
    1_000,
  )
  socket.on('error', () => undefined)
  socket.on('close', () => {
    clearInterval(drip)
    resolve({ ms: performance.now() - opened, said })
  })
  socket.setEncoding('latin1')
  if (reads) socket.on('data', (text: string) => (said += text)).on('end', () => socket.end())
  socket.write(first)
  return { socket, end: promise }
}

/** Milliseconds until the last connection was closed. */
async function latest(clients: readonly Slow[]): Promise<number> {
  return Math.max(...(await Promise.all(clients.map(async ({ end }) => (await end).ms))))
}

// The tests mostly wait, so they run concurrently.
test.concurrent('slow heads and slow bodies are bounded, and other clients are served beside them and beside clients that never read', async () => {
  await Promise.all(
    stacks.map(async (stack) => {
      const many = (make: () => Promise<Slow>) => Promise.all(Array.from({ length: OF_EACH }, make))
      const heads = await many(() =>
        dawdle(stack, 'GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ', 'x'),
      )
      const post = 'POST /api/event/checkin HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n{'
      const bodies = await many(() => dawdle(stack, post, ' '))
      const photo = `POST /api/event/ingest/${'k'.repeat(32)}/owntracks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n\r\n{`
      const photos = await many(() => dawdle(stack, photo, ' '))
      const get = 'GET /api/event/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'
      const deaf = await many(() => dawdle(stack, get.repeat(40), '', false))

      const until = performance.now() + 12_000
      while (performance.now() < until) {
        const asked = performance.now()
        expect((await checkIn(stack, newPilgrimId())).status).toBe(202)
        expect(performance.now() - asked).toBeLessThan(5_000)
        await Bun.sleep(500)
      }
      expect(await latest(heads)).toBeLessThan(HEAD_MS)
      expect(await latest(bodies)).toBeLessThan(BODY_MS[stack.kind])
      // On success a phone would delete its point.
      for (const { end } of bodies) expect((await end).said).toStartWith('HTTP/1.1 408 ')
      for (const { end } of photos) expect((await end).said).toStartWith('HTTP/1.1 503 ')
      for (const { socket } of [...heads, ...bodies, ...photos, ...deaf]) socket.destroy()
    }),
  )
}, 180_000)

/** Sends a body in equal pieces, one per second. @returns the response and its time */
async function sendSlowly({ port, ca }: TestStack, path: string, body: string, seconds: number) {
  const opened = performance.now()
  let said = ''
  const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', ca })
  const { promise, resolve } = Promise.withResolvers<{ ms: number; said: string }>()
  socket.setEncoding('latin1')
  socket.on('data', (text: string) => {
    said += text
    resolve({ ms: performance.now() - opened, said })
  })
  socket.on('error', () => resolve({ ms: performance.now() - opened, said }))
  socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`)
  const piece = Math.ceil(body.length / seconds)
  for (let at = 0; at < body.length && said === ''; at += piece) {
    socket.write(body.slice(at, at + piece))
    await Bun.sleep(1_000)
  }
  const answer = await promise
  socket.destroy()
  return answer
}

/** A track of exactly this many bytes. */
function trackOf(bytes: number): string {
  const user_id = newPilgrimId()
  const from = Date.now() - 3_600_000
  const points: object[] = []
  const json = () => JSON.stringify({ user_id, points, more: '' })
  for (let i = 0; json().length < bytes - 100; i++)
    points.push({ lat: 24.15, lng: 120.67, timestamp: from + i * 1_000 })
  return json().replace(/""}$/, `"${'x'.repeat(bytes - json().length)}"}`)
}

test.concurrent('a slow phone is served as long as its body makes progress', async () => {
  await Promise.all(
    stacks.map(async (stack) => {
      const body = trackOf(TRACK_BYTES)
      const { said, ms } = await sendSlowly(stack, '/api/event/track/sync', body, TRACK_S)
      expect(said).toStartWith('HTTP/1.1 200 ')
      expect(ms).toBeGreaterThan((TRACK_S - 2) * 1_000)
    }),
  )
}, 90_000)

test.concurrent('a service refuses a body that is too slow, and the error names the minimum', async () => {
  const [embedded] = stacks
  const at = (bytesASecond: number) =>
    sendSlowly(embedded!, '/api/event/track/sync', trackOf(bytesASecond * 20), 20)
  const [slow, slowest] = await Promise.all([at(300), at(200)])
  expect(slow.said).toStartWith('HTTP/1.1 200 ')
  expect(slowest.said).toStartWith('HTTP/1.1 408 ')
  expect(slowest.said).toContain('256 bytes a second over any 10 seconds')
  // Before the body would have ended by itself.
  expect(slowest.ms).toBeWithin(9_500, 19_500)
})
