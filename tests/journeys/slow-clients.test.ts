/** Clients that dawdle hold up nobody else, and not for ever. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect, type TLSSocket } from 'node:tls'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import { checkIn, newPilgrim, type World } from '#tests/helpers/test-stack.ts'
import { openEmbeddedWorld, WORLD_MS } from '#tests/helpers/open-test-stack.ts'
import { openRealWorld } from '#tests/helpers/test-stack-real.ts'

const OF_EACH = 30
/** Caddy gives a head 10 s and a body 30 s, a service a body 25 s. */
const HEAD_MS = 20_000
const BODY_MS = 40_000

let worlds: World[] = []
beforeAll(async () => {
  worlds = await Promise.all([openEmbeddedWorld(), ...(embeddedOnly ? [] : [openRealWorld()])])
}, 2 * WORLD_MS)
afterAll(async () => void (await Promise.all(worlds.map((world) => world.close()))), WORLD_MS)

interface Slow {
  readonly socket: TLSSocket
  /** Milliseconds until the server hung up, and what it said before. */
  readonly end: Promise<{ ms: number; said: string }>
}

/** Sends `first`, then a byte of `rest` each second. @param reads whether it takes what it is answered */
async function dawdle({ port, ca }: World, first: string, rest: string, reads = true): Promise<Slow> {
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

/** Milliseconds until the last of them was hung up on. */
async function latest(clients: readonly Slow[]): Promise<number> {
  return Math.max(...(await Promise.all(clients.map(async ({ end }) => (await end).ms))))
}

test('slow heads and slow bodies are bounded, and while they and clients that never read are there others are served', async () => {
  await Promise.all(
    worlds.map(async (world) => {
      const many = (make: () => Promise<Slow>) => Promise.all(Array.from({ length: OF_EACH }, make))
      const heads = await many(() =>
        dawdle(world, 'GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ', 'x'),
      )
      const post = 'POST /api/event/checkin HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n{'
      const bodies = await many(() => dawdle(world, post, ' '))
      const get = 'GET /api/event/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'
      const deaf = await many(() => dawdle(world, get.repeat(40), '', false))

      const until = performance.now() + 12_000
      while (performance.now() < until) {
        const asked = performance.now()
        expect((await checkIn(world, newPilgrim())).status).toBe(202)
        expect(performance.now() - asked).toBeLessThan(5_000)
        await Bun.sleep(500)
      }
      expect(await latest(heads)).toBeLessThan(HEAD_MS)
      expect(await latest(bodies)).toBeLessThan(BODY_MS)
      // Anything of success would make a phone forget its point.
      for (const { end } of bodies) expect((await end).said).toStartWith('HTTP/1.1 408 ')
      for (const { socket } of [...heads, ...bodies, ...deaf]) socket.destroy()
    }),
  )
}, 120_000)
