/** The client against the running service: typed answers, the operators' stream, and the queue in a real browser. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext, Page, Route } from 'playwright-core'
import { createClient, type Fetch, type StreamEvent } from '#shared/client/index.ts'
import { launchBrowser } from '#tests/browser/launch-browser.ts'
import { openEmbeddedTestStack } from '#tests/helpers/open-test-stack.ts'
import { admin, newPilgrimId, PLACE, type TestStack } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'

/** The script of the page. Its address names the pilgrim and the service: `#user,https://…`. */
const PAGE = `
  import { createClient, createTrackQueue } from '${import.meta.dir}/../../shared/client/index.ts'
  import { openIndexedDbStore } from '${import.meta.dir}/../../shared/client/queue/indexed-db-store.ts'
  const [userId, baseUrl] = location.hash.slice(1).split(',')
  const client = createClient({ baseUrl, identity: { userId } })
  const queue = createTrackQueue({ client, store: await openIndexedDbStore(), limits: { collectMs: 200, points: 3 } })
  queue.start()
  globalThis.queue = queue
`

interface PageQueue {
  readonly state: {
    readonly waiting: { readonly checkIns: number; readonly points: number }
    readonly why: string
  }
  record(points: object): Promise<{ readonly ok: boolean }>
  checkIn(point: object): Promise<{ readonly ok: boolean }>
}
declare global {
  /** The page's queue, as functions that run in the page see it. */
  var queue: PageQueue
}

let stack: TestStack
beforeAll(async () => {
  stack = await openEmbeddedTestStack({ EVENT_LIMIT_SYNC: '1000' })
})
afterAll(() => stack?.close())

const deliver: Fetch = (path, init) => stack.fetch(path, init)
const token = (role: 'owner' | 'manager') => admin(role)['X-Admin-Token']
const owner = createClient({ baseUrl: '', fetch: deliver, token: () => token('owner') })

/** Times of the stored points of a pilgrim, by kind. */
async function storedOf(userId: string): Promise<{ c: number[]; t: number[] }> {
  const answer = await owner.exportUser({ userId })
  if (!answer.ok) return { c: [], t: [] }
  const { gps_points, pending } = answer.data
  const rows = [...gps_points, ...(pending ?? [])] as { kind: 'c' | 't'; sent_at: string }[]
  const timesOf = (kind: string) =>
    rows.flatMap((row) => (row.kind === kind ? [Date.parse(row.sent_at)] : [])).sort((a, b) => a - b)
  return { c: timesOf('c'), t: timesOf('t') }
}

test('a pilgrim checks in, sends a track and reads the profile; an operator exports', async () => {
  const userId = newPilgrimId()
  const client = createClient({ baseUrl: '', fetch: deliver, identity: { userId } })
  const now = Date.now()
  const checkIn = await client.checkIn({ ...PLACE, timestamp: now })
  if (!checkIn.ok) throw new Error(checkIn.error.message)
  expect(checkIn).toMatchObject({ status: 202, data: { userId, duplicate: false, in_range: true } })
  const track = await client.syncTrack({
    points: [
      { ...PLACE, timestamp: now - 60_000 },
      { lat: 95, lng: 0, timestamp: now - 30_000 },
    ],
  })
  expect(track).toMatchObject({ ok: true, data: { accepted: 1, rejected: [{ index: 1 }] } })
  expect(await client.readProfile({ userId })).toMatchObject({ ok: true, data: { userId, checkins: 1 } })
  expect(await client.checkIn({ lat: 95, lng: 0 })).toMatchObject({
    ok: false,
    error: { status: 400, code: 'invalid-request', requestId: expect.any(String) },
  })
  expect(await client.readLedger()).toMatchObject({ ok: false, error: { status: 401, code: 'unauthorized' } })

  const map = await client.readMap()
  if (!map.ok) throw new Error(map.error.message)
  const etag = map.headers.get('etag')!
  expect(await client.readMap({}, { ifNoneMatch: etag })).toMatchObject({
    ok: false,
    error: { code: 'not-modified' },
  })
  const gpx = await owner.download('exportUser', { userId, format: 'gpx' })
  if (!gpx.ok) throw new Error(gpx.error.message)
  expect(await gpx.data.blob.text()).toContain('<gpx')
  expect(gpx.data.filename).toEndWith('.gpx')
  expect(await owner.readHealth()).toMatchObject({ ok: true, data: { status: 'ok', db: 'ok' } })
})

test('the stream resumes after an interruption, and ends when the token is refused', async () => {
  const asked: (string | null)[] = []
  let cut: () => void = () => undefined
  /** Breaks the connection on demand. */
  const breaking: Fetch = async (path, init) => {
    asked.push(new Headers(init.headers).get('last-event-id'))
    const response = await stack.fetch(path, init)
    const broken = new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) => void (cut = () => controller.error(new Error('cut'))),
    })
    return new Response(response.body?.pipeThrough(broken), response)
  }
  const leaving = new AbortController()
  const seen: StreamEvent[] = []
  const client = createClient({ baseUrl: '', fetch: breaking, token: token('manager') })
  const reading = (async () => {
    for await (const event of client.stream({ zoom: 12, signal: leaving.signal })) seen.push(event)
  })()
  const next = (what: string, from: number) =>
    until(() => seen.slice(from).find(({ event }) => event === what), what)
  expect(await next('snapshot', 0)).toMatchObject({ data: { resumed: false, status: { status: 'active' } } })
  await createClient({ baseUrl: '', fetch: deliver }).checkIn({ ...PLACE, user_id: newPilgrimId() })
  expect(await next('counts', 0)).toMatchObject({ id: expect.stringMatching(/./) })
  const before = seen.length
  cut()
  expect(await next('interrupted', before)).toMatchObject({
    data: { error: { code: 'network' }, retryInMs: expect.any(Number) },
  })
  expect(await next('snapshot', before)).toMatchObject({ data: { resumed: true } })
  expect(asked).toEqual([null, expect.stringMatching(/./)])
  leaving.abort()
  await reading

  const refused: StreamEvent[] = []
  const stranger = createClient({ baseUrl: '', fetch: deliver, token: 'a-token-that-nobody-has' })
  for await (const event of stranger.stream()) refused.push(event)
  expect(refused).toMatchObject([
    { event: 'interrupted', data: { error: { status: 401, code: 'unauthorized' }, retryInMs: null } },
  ])
})

test('a script that is killed while it sends goes on where it was', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'recorder-'))
  const userId = newPilgrimId()
  const start = Date.now() - 3_600_000
  const url = `https://localhost:${stack.port}`
  await Bun.write(join(directory, 'ca.pem'), stack.ca)
  const begin = (count: number) =>
    Bun.spawn(
      [
        'bun',
        'tests/client/recorder-process.ts',
        url,
        userId,
        join(directory, 'walk.db'),
        `${start}`,
        `${count}`,
      ],
      {
        cwd: join(import.meta.dir, '../..'),
        env: { ...process.env, NODE_EXTRA_CA_CERTS: join(directory, 'ca.pem') },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
  const killed = begin(60)
  // Some batches are stored, others are not; one is in flight.
  await until(async () => (await storedOf(userId)).t.length > 0, 'a stored batch')
  killed.kill('SIGKILL')
  await killed.exited
  const again = begin(0)
  expect(await new Response(again.stdout).text()).toBe('recorded\nsent\n')
  expect((await storedOf(userId)).t).toEqual(Array.from({ length: 60 }, (_, i) => start + i * 1_000))
  rmSync(directory, { recursive: true })
})

test('in Chromium: two tabs, no network, a reload and a closed tab; everything is stored once', async () => {
  const { outputs } = await Bun.build({
    entrypoints: ['/page.ts'],
    files: { '/page.ts': PAGE },
    target: 'browser',
  })
  const script = await outputs[0]!.text()
  using site = Bun.serve({
    port: 0,
    routes: {
      '/': () =>
        new Response('<script type="module" src="/page.js"></script>', {
          headers: { 'content-type': 'text/html' },
        }),
      '/page.js': () => new Response(script, { headers: { 'content-type': 'text/javascript' } }),
    },
  })
  const userId = newPilgrimId()
  const url = `http://localhost:${site.port}/#${userId},https://localhost:${stack.port}`
  const browser = await launchBrowser()
  try {
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    await walkInTwoTabs(context, url, userId)
  } finally {
    await browser.close()
  }
})

async function walkInTwoTabs(context: BrowserContext, url: string, userId: string): Promise<void> {
  const start = Date.now() - 3_600_000
  const point = (i: number) => ({ ...PLACE, timestamp: start + i * 1_000 })
  const times = (...seconds: number[]) => seconds.map((i) => start + i * 1_000)
  const open = async (): Promise<Page> => {
    const page = await context.newPage()
    await page.goto(url)
    await page.waitForFunction(() => 'queue' in globalThis)
    return page
  }
  const record = async (page: Page, ...seconds: number[]) =>
    expect(await page.evaluate((points) => queue.record(points), seconds.map(point))).toEqual({
      ok: true,
    })

  // Offline, everything is kept, across a reload and in both tabs.
  await context.route('**/api/**', (route) => route.abort())
  const first = await open()
  await record(first, 1, 2, 3)
  expect(await first.evaluate((given) => queue.checkIn(given), point(4))).toEqual({ ok: true })
  await first.waitForFunction(() => queue.state.why === 'network')
  await first.reload()
  await first.waitForFunction(() => 'queue' in globalThis && queue.state.waiting.points === 3)
  const second = await open()
  await record(second, 5, 6)

  // A request hangs in the sending tab. The tab is closed, and the other one takes over.
  let inFlight = 0
  let mostAtOnce = 0
  const hanging = Promise.withResolvers<Route>()
  let hangs = true
  // Added before the rejecting route is removed: without any route, a retry could send everything.
  await context.route('**/api/**', async (route) => {
    mostAtOnce = Math.max(mostAtOnce, ++inFlight)
    if (hangs) return hanging.resolve(route)
    const response = await route.fetch()
    // Counted before the tab gets the answer, because it sends the next request at once.
    inFlight--
    await route.fulfill({ response })
  })
  await first.evaluate(() => globalThis.dispatchEvent(new Event('online')))
  const sender = (await hanging.promise).request().frame().page()
  hangs = false
  // The request ends with its tab. Only then may the other tab send.
  inFlight--
  const other = sender === first ? second : first
  await sender.close()
  await record(other, 7)
  await other.evaluate(() => globalThis.dispatchEvent(new Event('online')))
  await other.waitForFunction(() => {
    const { checkIns, points } = queue.state.waiting
    return checkIns + points === 0
  })
  expect(mostAtOnce).toBe(1)
  expect(await storedOf(userId)).toEqual({ c: times(4), t: times(1, 2, 3, 5, 6, 7) })
}
