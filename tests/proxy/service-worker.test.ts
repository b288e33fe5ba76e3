/**
 * The service worker caches only the page's files and no responses, so that nobody finds another pilgrim's
 * data on a shared phone.
 */
import { expect, test } from 'bun:test'
import { runInNewContext } from 'node:vm'

const ORIGIN = 'https://walk.example'
const FILES = ['/walk/', '/assets/page-1.js']

/** The worker's listeners, with an in-memory cache and a network that returns the request's URL. */
async function openWorker() {
  const kept = new Map<string, string>()
  const listeners = new Map<string, (event: object) => void>()
  const cache = { addAll: async (files: string[]) => files.forEach((file) => kept.set(file, `kept ${file}`)) }
  const names = new Set(['/walk/ old', '/ map'])
  const globals = {
    CACHE: '/walk/ new',
    FILES,
    PAGE: '/walk/',
    URL,
    location: { origin: ORIGIN },
    self: {
      addEventListener: (name: string, listener: (event: object) => void) => listeners.set(name, listener),
      skipWaiting: async () => undefined,
      clients: { claim: async () => undefined },
    },
    caches: {
      open: async (name: string) => (names.add(name), cache),
      keys: async () => [...names],
      delete: async (name: string) => names.delete(name),
      match: async (path: string) => kept.get(path),
    },
    fetch: async ({ url }: Request) => `network ${url}`,
  }
  const source = await Bun.file(new URL('../../proxy/pages/frame/service-worker.ts', import.meta.url)).text()
  const script = new Bun.Transpiler({ loader: 'ts' }).transformSync(source)
  runInNewContext(script, globals)
  const send = async (name: string, event: object = {}): Promise<unknown> => {
    let answer: unknown = 'browser'
    const waits: Promise<unknown>[] = []
    const respondWith = (given: Promise<unknown>) => (answer = given)
    listeners.get(name)!({ ...event, respondWith, waitUntil: (one: Promise<unknown>) => waits.push(one) })
    await Promise.all(waits)
    return answer
  }
  for (const name of ['install', 'activate']) await send(name)
  const ask = (url: string, method = 'GET') =>
    send('fetch', { request: new Request(new URL(url, ORIGIN), { method }) })
  return { ask, kept, names }
}

test.each([
  ['/walk/', 'kept /walk/'],
  // A request with a query neither reads nor writes the cache.
  ['/walk/?user_id=w-1', 'kept /walk/'],
  ['/assets/page-1.js?v=2', 'kept /assets/page-1.js'],
  ['/api/event/user/w-1', 'browser'],
  ['/api/event/shares?user_id=w-1', 'browser'],
  ['/api/event/og/w-1.png', 'browser'],
  ['/s/abc', 'browser'],
  ['/walk/../api/event/config', 'browser'],
  ['/assets/page-2.js', 'browser'],
  ['https://other.example/walk/', 'browser'],
])('a request for %s is answered by %s', async (url, by) => {
  const { ask, kept } = await openWorker()
  expect(await ask(url)).toBe(by)
  expect([...kept.keys()]).toEqual(FILES)
})

test('a request that writes goes to the network, and another page keeps its files', async () => {
  const { ask, names } = await openWorker()
  expect(await ask('/walk/', 'POST')).toBe('browser')
  expect([...names]).toEqual(['/ map', '/walk/ new'])
})
