/** The operators' console of a large event: frames of its map, its views, its memory over a shift, and its stream. */
import { readMetric } from '#tests/helpers/metrics.ts'
import { admin } from '#tests/helpers/test-stack.ts'
import type { RealTestStack } from '#tests/helpers/test-stack-real.ts'
import { until } from '#tests/helpers/wait.ts'
import { type EventSize, openLargeEvent } from '../console/event.ts'
import { pass, playTape, recordStream } from '../console/tape.ts'
import type { Row, Scale } from '../measure.ts'
import { residentMb } from '../measured-processes.ts'
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import { commandPath } from '#tests/helpers/programs.ts'

/** The size of a screen in a control room. */
const SCREEN = { width: 1_440, height: 900 }

const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: commandPath('chromium'),
    args: ['--no-sandbox', '--ignore-certificate-errors', '--enable-precise-memory-info'],
  })

interface OpenedConsole {
  readonly page: Page
  readonly devtools: CDPSession
  /** Milliseconds from sign-in to the first data. */
  readonly signedInMs: number
}

/** Opens the console and signs in. @param prepare called before the page loads */
async function openConsole(
  browser: Browser,
  { port, token }: { readonly port: number; readonly token: string },
  prepare?: (page: Page) => Promise<unknown>,
): Promise<OpenedConsole> {
  const context = await browser.newContext({ viewport: SCREEN, locale: 'en-GB', ignoreHTTPSErrors: true })
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  await prepare?.(page)
  await page.goto(`https://localhost:${port}/admin/?lang=en#/now`)
  await page.locator('#token').fill(token)
  const startedMs = performance.now()
  await page.keyboard.press('Enter')
  await page.locator('.tile .figure').first().waitFor()
  const signedInMs = performance.now() - startedMs
  const devtools = await context.newCDPSession(page)
  await devtools.send('Performance.enable')
  await devtools.send('HeapProfiler.enable')
  return { page, devtools, signedInMs }
}

/** Objects that the page holds. */
interface Held {
  readonly heapKb: number
  readonly nodes: number
  readonly listeners: number
}

/** Counts after a garbage collection. */
async function heldBy(devtools: CDPSession): Promise<Held> {
  // The second collection frees what the first has finalized.
  await devtools.send('HeapProfiler.collectGarbage')
  await devtools.send('HeapProfiler.collectGarbage')
  const { metrics } = await devtools.send('Performance.getMetrics')
  const of = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN
  return {
    heapKb: Math.round(of('JSHeapUsedSize') / 1_000),
    nodes: of('Nodes'),
    listeners: of('JSEventListeners'),
  }
}

/** Runs in the page before anything else, so that it sees the first callback of each frame. */
const watchFrames = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const works: number[] = []
    const intervals: number[] = []
    const channel = new MessageChannel()
    let beganMs = 0
    let lastMs = 0
    let isOpen = false
    const begin = () => {
      if (isOpen) return
      isOpen = true
      beganMs = performance.now()
      if (lastMs > 0) intervals.push(beganMs - lastMs)
      lastMs = beganMs
      channel.port2.postMessage(null)
    }
    // The message is handled after the frame's task, including style, layout and painting.
    channel.port1.addEventListener('message', () => {
      isOpen = false
      works.push(performance.now() - beganMs)
    })
    channel.port1.start()
    const { requestAnimationFrame } = globalThis
    globalThis.requestAnimationFrame = (callback) =>
      requestAnimationFrame.call(globalThis, (at) => {
        begin()
        callback(at)
      })
    for (const name of ['pointermove', 'wheel'])
      addEventListener(name, begin, { capture: true, passive: true })
    Object.assign(globalThis, {
      takeFrames: () => ({ works: works.splice(0), intervals: intervals.splice(0) }),
    })
  })

interface Frames {
  /** Milliseconds of the main thread per frame. */
  readonly works: readonly number[]
  /** Milliseconds between frames; includes other load on the machine. */
  readonly intervals: readonly number[]
  /** Mean CPU milliseconds of the main thread per frame; excludes other load on the machine. */
  readonly cpuMs: number
}

/** Takes the frames since the last call. */
function createTaker(page: Page, devtools: CDPSession): () => Promise<Frames> {
  let before = 0
  return async () => {
    const { metrics } = await devtools.send('Performance.getMetrics')
    const cpuMs = 1_000 * (metrics.find(({ name }) => name === 'ThreadTime')?.value ?? Number.NaN)
    const used = cpuMs - before
    before = cpuMs
    type Taken = Pick<Frames, 'works' | 'intervals'>
    const taken = await page.evaluate(() => (Reflect.get(globalThis, 'takeFrames') as () => Taken)())
    return { ...taken, cpuMs: used / taken.works.length }
  }
}

const MOVES = 120

/** Drags the map back and forth, then zooms in and out. */
async function moveMap(
  page: Page,
  devtools: CDPSession,
): Promise<{ readonly panning: Frames; readonly zooming: Frames }> {
  const take = createTaker(page, devtools)
  const box = (await page.locator('.map-frame').boundingBox())!
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
  await page.mouse.move(x, y)
  await take()
  await page.mouse.down()
  for (let i = 1; i <= MOVES; i++)
    await page.mouse.move(x + Math.sin(i / 12) * box.width * 0.3, y + Math.cos(i / 15) * box.height * 0.25)
  await page.mouse.up()
  // The picture is painted again when the map comes to rest.
  await page.waitForTimeout(1_000)
  const panning = await take()
  for (let i = 0; i < MOVES / 2; i++) await page.mouse.wheel(0, i % 30 < 15 ? -60 : 60)
  await page.waitForTimeout(1_000)
  return { panning, zooming: await take() }
}

/** Quantile of the sorted samples. */
const quantile = (samples: readonly number[], share: number): number =>
  samples.toSorted((a, b) => a - b)[Math.min(samples.length - 1, Math.floor(samples.length * share))] ??
  Number.NaN

interface Client {
  /** Messages received so far. */
  messages(): number
  leave(): Promise<void>
}

/** Connects, and resolves at the first bytes. */
async function connect(stack: RealTestStack, token: string): Promise<Client> {
  const leaving = new AbortController()
  const answer = await fetch(`https://localhost:${stack.port}/api/event/admin/stream?zoom=6`, {
    headers: { 'X-Admin-Token': token },
    tls: { ca: stack.ca },
    signal: leaving.signal,
  })
  if (!answer.ok) throw new Error(`the stream answered ${answer.status}: ${await answer.text()}`)
  const reader = answer.body!.getReader()
  const decoder = new TextDecoder()
  let messages = 0
  const count = (bytes: Uint8Array) => (messages += decoder.decode(bytes).split('\nevent: ').length - 1)
  const first = await reader.read()
  if (first.value !== undefined) count(first.value)
  const reading = (async () => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      count(value)
    }
  })().catch(() => undefined)
  return {
    messages: () => messages,
    async leave() {
      leaving.abort()
      await reading
    },
  }
}

/** Connects and disconnects this many times, a few at a time. */
async function reconnect(stack: RealTestStack, token: string, times: number): Promise<void> {
  const AT_ONCE = 20
  for (let done = 0; done < times; done += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, times - done) }, async () =>
        (await connect(stack, token)).leave(),
      ),
    )
}

/** Steps to open each view, and what shows that its data have arrived. */
const STEPS: readonly { readonly name: string; readonly click: string; readonly shows: string }[] = [
  { name: 'People', click: '.navigation a[href="#/people"]', shows: '.people-list tbody tr' },
  { name: 'one pilgrim', click: '.people-list .name-button', shows: '.person .level-line' },
  { name: 'Reports', click: '.navigation a[href="#/reports"]', shows: '.questions section' },
  { name: 'Feedback', click: '.navigation a[href="#/feedback"]', shows: '.feedback-card' },
  { name: 'Messages', click: '.navigation a[href="#/messages"]', shows: '.compose' },
  { name: 'Lifecycle', click: '.navigation a[href="#/lifecycle"]', shows: '.end-event' },
  { name: 'System', click: '.navigation a[href="#/system"]', shows: '.audit tbody tr' },
  { name: 'Now', click: '.navigation a[href="#/now"]', shows: '.tile .figure' },
]

interface Answer {
  readonly path: string
  readonly ms: number
  /** Bytes of the body on the network. */
  readonly bytes: number
}

/** Time until each view of the console has its first data, and its requests to the service. */
interface ViewCost {
  readonly name: string
  readonly firstDataMs: number
  readonly answers: number
  readonly slowest: Answer
  readonly largest: Answer
}

const SETTLE_MS = 1_500

/** Opens each view in turn. */
async function measureViews(page: Page): Promise<ViewCost[]> {
  const pending: Promise<Answer>[] = []
  page.on('requestfinished', (request) => {
    const { pathname } = new URL(request.url())
    if (!pathname.startsWith('/api/') || pathname.endsWith('/stream')) return
    pending.push(
      request.sizes().then(({ responseBodySize: bytes }) => {
        const { requestStart, responseEnd } = request.timing()
        return { path: pathname.replace('/api/event/', ''), ms: responseEnd - requestStart, bytes }
      }),
    )
  })
  const costs: ViewCost[] = []
  for (const { name, click, shows } of STEPS) {
    pending.length = 0
    const startedMs = performance.now()
    await page.locator(click).first().click()
    await page.locator(shows).first().waitFor()
    const firstDataMs = performance.now() - startedMs
    await page.waitForTimeout(SETTLE_MS)
    const answers = await Promise.all(pending)
    const most = (by: 'ms' | 'bytes'): Answer =>
      answers.toSorted((a, b) => b[by] - a[by])[0] ?? { path: '–', ms: 0, bytes: 0 }
    costs.push({ name, firstDataMs, answers: answers.length, slowest: most('ms'), largest: most('bytes') })
  }
  return costs
}

const HOUR_MS = 3_600_000
const FRAME_MS = 16

/**
 * The specified size; a quick run has a tenth. The other rows always use the tenth, which fills as many
 * cells.
 */
const sizeOf = ({ name }: Scale): EventSize =>
  name === 'full' ? { pilgrims: 50_000, points: 1_000_000 } : { pilgrims: 5_000, points: 100_000 }
const SMALL: EventSize = { pilgrims: 5_000, points: 100_000 }

const ms = (value: number): string => value.toFixed(value < 100 ? 1 : 0)
const kb = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} kB`
const say = (...cells: readonly (string | number)[]): void => console.log(`| ${cells.join(' | ')} |`)

const sayHeld = ({ heapKb, nodes, listeners }: Held): string =>
  `heap ${(heapKb / 1_000).toFixed(1)} MB, ${nodes} nodes, ${listeners} listeners`

function sayFrames(what: string, { works, intervals, cpuMs }: Frames): void {
  const three = (samples: readonly number[]) =>
    [0.5, 0.95, 1].map((share) => ms(quantile(samples, share))).join(' / ')
  say(
    what,
    `${works.length} frames`,
    `main thread ${three(works)} ms`,
    `between ${three(intervals)} ms`,
    `CPU ${ms(cpuMs)} ms a frame`,
  )
}

async function measureMap(stack: RealTestStack): Promise<number> {
  const browser = await launch()
  try {
    const [{ 'X-Admin-Token': token }, { port }] = [admin('owner'), stack]
    const { page, devtools, signedInMs } = await openConsole(browser, { port, token }, watchFrames)
    const seen = async () => {
      const label = (await page.locator('section.map').getAttribute('aria-label')) ?? ''
      return /^[1-9]/.test(label) && label
    }
    const shown = await until(seen, 'the crowd on the map', { timeoutMs: 60_000, everyMs: 100 })
    say('Now', `${ms(signedInMs)} ms to its first data`, shown, sayHeld(await heldBy(devtools)))
    await page.waitForTimeout(2_000)
    const { panning, zooming } = await moveMap(page, devtools)
    sayFrames('panning', panning)
    sayFrames('zooming', zooming)
    for (const { name, firstDataMs, answers, slowest, largest } of await measureViews(page))
      say(
        name,
        `${ms(firstDataMs)} ms`,
        `${answers} answers`,
        `slowest ${slowest.path} ${ms(slowest.ms)} ms`,
        `largest ${largest.path} ${kb(largest.bytes)}`,
      )
    say('after all views', sayHeld(await heldBy(devtools)))
    return quantile(panning.works, 0.95)
  } finally {
    await browser.close()
  }
}

export const consoleMap: Row = {
  id: 'console',
  title:
    'console, 50,000 pilgrims and 1,000,000 points: main thread of a frame while the map is dragged, 95 %',
  unit: 'ms',
  rounds: 1,
  // Filling it and starting Chromium takes a minute.
  untested: true,
  async open(scale) {
    const event = await openLargeEvent(sizeOf(scale))
    console.log(`filled in ${event.filledS.toFixed(0)} s`)
    return {
      contenders: [{ name: 'console', role: 'ours', measure: () => measureMap(event.stack) }],
      goals: [{ of: null, atMost: FRAME_MS }],
      close: async () => event[Symbol.asyncDispose](),
    }
  },
}

/** Growth per hour of a straight line through the samples, one per hour. */
function slopeOf(samples: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(samples.map((_, hour) => hour)), mean(samples)]
  const over = samples.reduce((sum, value, hour) => sum + (hour - x) * (value - y), 0)
  return over / samples.reduce((sum, _, hour) => sum + (hour - x) ** 2, 0)
}

async function measureHours(stack: RealTestStack, hours: number): Promise<number> {
  const { 'X-Admin-Token': token } = admin('owner')
  const tape = await recordStream(stack, token, 30)
  const each = tape.seconds.flat().length / tape.seconds.length
  console.log(`stream: ${each.toFixed(1)} messages and ${kb(tape.bytes / tape.seconds.length)} a second`)
  const browser = await launch()
  try {
    const { page, devtools } = await openConsole(browser, { port: stack.port, token }, async (made) => {
      await made.clock.install()
      await playTape(made, tape)
    })
    await page.locator('.connection.live').waitFor()
    await page.clock.pauseAt(Date.now() + 60_000)
    // The chart stores half an hour, so memory levels off only once it is full.
    await pass(page, HOUR_MS)
    const samples: number[] = []
    for (let hour = 0; hour <= hours; hour++) {
      const held = await heldBy(devtools)
      samples.push(held.heapKb)
      const messages = hour === hours ? await pass(page, 0) : await pass(page, HOUR_MS)
      say(`hour ${hour}`, sayHeld(held), hour === hours ? `${messages} messages in all` : '')
    }
    if ((await page.locator('.connection.live').count()) !== 1) throw new Error('the console is not live')
    const slope = slopeOf(samples)
    console.log(`heap: ${slope.toFixed(0)} kB an hour`)
    // The table has no negative figures.
    return Math.max(1, slope)
  } finally {
    await browser.close()
  }
}

export const consoleHours: Row = {
  id: 'console-hours',
  title: 'console, eight hours with the stream open: growth of the heap after garbage collection, an hour',
  unit: 'kB',
  rounds: 1,
  untested: true,
  async open({ name }) {
    const event = await openLargeEvent(SMALL)
    return {
      contenders: [
        { name: 'console', role: 'ours', measure: () => measureHours(event.stack, name === 'full' ? 8 : 2) },
      ],
      goals: [{ of: null, atMost: 100 }],
      close: async () => event[Symbol.asyncDispose](),
    }
  },
}

/**
 * As many messages as one console gets in eight hours: this many streams for this many seconds. Bun opens at
 * most 256.
 */
const STREAMS = { full: { streams: 240, seconds: 120 }, quick: { streams: 50, seconds: 10 } } as const
const RECONNECTIONS = 1_000

interface ServiceMemory {
  readonly before: number
  readonly after: number
}

async function measureStreams(stack: RealTestStack, { name }: Scale): Promise<ServiceMemory> {
  const { 'X-Admin-Token': token } = admin('owner')
  const { pid, url } = stack.service('admin')
  const { streams, seconds } = STREAMS[name === 'full' ? 'full' : 'quick']
  // Memory compiled and allocated by the first clients stays.
  await reconnect(stack, token, 200)
  say('admin', `${residentMb(pid).toFixed(0)} MB with the first clients gone`)
  const clients = await Promise.all(Array.from({ length: streams }, () => connect(stack, token)))
  for (let second = 0; second < seconds; second += 15) {
    say('admin', `${residentMb(pid).toFixed(0)} MB with ${streams} streams after ${second} s`)
    await Bun.sleep(15_000)
  }
  const messages = clients.reduce((sum, client) => sum + client.messages(), 0)
  await Promise.all(clients.map((client) => client.leave()))
  const before = residentMb(pid)
  say('admin', `${before.toFixed(0)} MB after ${messages} messages, without streams`)
  for (let done = 0; done < RECONNECTIONS; done += 250) {
    await reconnect(stack, token, 250)
    say('admin', `${residentMb(pid).toFixed(0)} MB after ${done + 250} reconnections`)
  }
  const open = () => readMetric({ url }, 'event_stream_clients')
  await until(async () => (await open()) === 0, 'no stream to be open')
  return { before, after: residentMb(pid) }
}

export const consoleStreams: Row = {
  id: 'console-streams',
  title: 'the console’s stream: memory of admin after 1,000 reconnections',
  unit: 'MB',
  rounds: 1,
  untested: true,
  async open(scale) {
    const event = await openLargeEvent(SMALL)
    let memory: ServiceMemory = { before: 0, after: 0 }
    const measure = async () => (memory = await measureStreams(event.stack, scale)).after
    return {
      contenders: [
        { name: 'after', role: 'ours', measure },
        { name: 'before them', role: 'limit', measure: async () => memory.before },
      ],
      goals: [{ of: 'before them', atMost: 1.15 }],
      close: async () => event[Symbol.asyncDispose](),
    }
  },
}
