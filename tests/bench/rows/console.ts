/** The operators' console of a large event: frames of its map, its views, its memory over a shift, and its stream. */
import { readMetric } from '#tests/helpers/metrics.ts'
import { admin } from '#tests/helpers/test-stack.ts'
import type { RealTestStack } from '#tests/helpers/test-stack-real.ts'
import { until } from '#tests/helpers/wait.ts'
import { heldBy, type Held, launch, openConsole } from '../console/browser.ts'
import { type EventSize, openLargeEvent } from '../console/event.ts'
import { type Frames, moveMap, quantile, watchFrames } from '../console/frames.ts'
import { connect, reconnect } from '../console/streams.ts'
import { pass, playTape, recordStream } from '../console/tape.ts'
import { measureViews } from '../console/views.ts'
import type { Row, Scale } from '../measure.ts'
import { residentMb } from '../measured-processes.ts'

const HOUR_MS = 3_600_000
const FRAME_MS = 16

/** The size; a quick run has a tenth. The other rows always have the tenth, which fills as many cells. */
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
    const shown = await until(seen, { timeoutMs: 60_000, everyMs: 100, what: 'the crowd on the map' })
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

/** Growth by hour of a straight line through the samples, one an hour. */
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
    // The chart holds half an hour, so it has to be full before memory can be level.
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
    // The table knows no negative figures.
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

/** As many messages as one console gets in eight hours: so many streams for so many seconds. Bun opens at most 256. */
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
  // What the first clients compile and allocate stays.
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
  await until(async () => (await open()) === 0, { timeoutMs: 20_000, what: 'no stream to be open' })
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
