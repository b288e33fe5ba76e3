/**
 * `bun run test:scale`: the whole service with ten times the event in its stores, generated directly. Each
 * part is measured separately: seconds, and the peak memory and longest stall of the working process.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { readMetric } from '#tests/helpers/metrics.ts'
import { newDirectory, type Server } from '#tests/helpers/process.ts'
import { besidePostgres } from '#tests/helpers/in-directory.ts'
import { callAs, healthOf, readAs } from '#tests/helpers/test-stack.ts'
import { journaled, openTestStackOn, type RealTestStack } from '#tests/helpers/test-stack-real.ts'
import { openTestDatabase } from '#tests/helpers/database.ts'
import { startNats, startRedis } from '#tests/helpers/servers.ts'
import { until } from '#tests/helpers/wait.ts'
import { onError } from '#tests/kv/drivers.ts'
import {
  fillEvents,
  fillJournal,
  fillPending,
  fillPositions,
  fillStored,
  pointsEach,
  type Size,
  walkerId,
} from './fill.ts'

const USAGE = `Rehearses ten times the event: fills the stores, and measures flush, map, profile, export, erasure, outbox and restart.

  bun run test:scale [options]

  --share <n>      a share of everything, such as 0.01 for a look (default: 1, some twenty minutes and 8 GB of memory)
  --only <parts>   only these parts, separated by commas
  --help           print this text

Everything runs on loopback, on servers that the run starts.
Exit codes: 0 within the bounds, 1 beyond one of them or failed, 2 wrong command line.`

const { values } = readCommandLine(USAGE, {
  share: { type: 'string', default: '1' },
  only: { type: 'string' },
})
const share = Number(values.share)
if (!(share > 0 && share <= 1)) {
  process.stderr.write(`--share must be above 0 and at most 1\n\n${USAGE}\n`)
  process.exit(2)
}

const of = (whole: number): number => Math.max(1, Math.round(whole * share))
const SIZE: Size = {
  pilgrims: of(500_000),
  stored: of(20_000_000),
  pending: of(2_000_000),
  late: 0.1,
  events: of(1_000_000),
  journaled: of(1_000_000),
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const LONGEST_MS = 20 * MINUTE_MS

/** The cost of a part, and its limits. Memory and stall are of the named process. */
interface Part {
  readonly name: string
  readonly title: string
  readonly process: (stack: RealTestStack) => Server
  readonly bounds: { readonly seconds: number; readonly peakMb: number; readonly stallMs: number }
  /** @returns seconds, if they differ from the duration of the whole part */
  readonly run: (stack: RealTestStack) => Promise<number | void>
}

const ok = async (answer: Response): Promise<string> => {
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${answer.status} ${text.slice(0, 300)}`)
  return text
}

const tracking = (stack: RealTestStack) => stack.service('tracking')

/** Seconds of the slowest of several consecutive calls. */
async function slowest(times: number, call: (turn: number) => Promise<unknown>): Promise<number> {
  let longest = 0
  for (let turn = 0; turn < times; turn++) {
    const startedMs = performance.now()
    await call(turn)
    longest = Math.max(longest, performance.now() - startedMs)
  }
  return longest / 1_000
}

const PARTS: readonly Part[] = [
  {
    name: 'flush',
    title: `flush of ${SIZE.pending.toLocaleString('en')} pending points, a tenth of them late`,
    process: (stack) => stack.service('scheduler'),
    bounds: { seconds: 300, peakMb: 1_200, stallMs: 1_000 },
    async run(stack) {
      const { last_flush: before } = await healthOf(stack)
      await ok(await callAs(stack, 'manager', 'POST', 'admin/flush'))
      // It is recorded once the map's cells are counted too.
      const isDone = async () => {
        const { buffer_size, last_flush } = await healthOf(stack)
        return buffer_size === 0 && last_flush !== before
      }
      await until(isDone, 'the flush to store everything', { timeoutMs: LONGEST_MS, everyMs: 250 })
    },
  },
  {
    name: 'map',
    title: 'public map with another rectangle each time, slowest of 40',
    process: tracking,
    bounds: { seconds: 2, peakMb: 1_000, stallMs: 100 },
    run: (stack) =>
      slowest(40, async (turn) => {
        const west = 119.5 + turn / 100
        await ok(await stack.fetch(`/api/event/data?limit=5000&bbox=${west},23,${west + 2},25`))
      }),
  },
  {
    name: 'profile',
    title: 'profile of somebody with two devices, slowest of 20',
    process: (stack) => stack.service('survey-profile'),
    bounds: { seconds: 1, peakMb: 500, stallMs: 100 },
    run: (stack) => slowest(20, async (turn) => ok(await stack.fetch(`/api/event/user/${walkerId(turn)}`))),
  },
  {
    name: 'export',
    title: `export of ${pointsEach(SIZE).two.toLocaleString('en')} points, slowest of 5`,
    process: (stack) => stack.service('admin'),
    bounds: { seconds: 5, peakMb: 700, stallMs: 200 },
    run: (stack) =>
      slowest(5, async (turn) => ok(await readAs(stack, 'owner', `admin/users/${walkerId(turn)}/export`))),
  },
  {
    name: 'erasure',
    title: `erasure of ${pointsEach(SIZE).two.toLocaleString('en')} points, slowest of 5`,
    process: (stack) => stack.service('admin'),
    bounds: { seconds: 8, peakMb: 700, stallMs: 300 },
    run: (stack) =>
      slowest(5, async (turn) =>
        ok(await callAs(stack, 'owner', 'DELETE', `admin/users/${walkerId(turn + 100)}`)),
      ),
  },
]

/** Longest stall of a process's event loop since the last read, in milliseconds. */
const longestStallMs = async (server: Server): Promise<number> =>
  1_000 * (await readMetric(server, 'event_loop_stall_seconds'))

/** Peak memory of a process according to the kernel; `reset` sets it to the current use. */
const peakMb = ({ pid }: Server): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_000
const resetPeak = ({ pid }: Server): void => writeFileSync(`/proc/${pid}/clear_refs`, '5')

interface Measured extends Pick<Part, 'title' | 'bounds'> {
  readonly seconds: number
  readonly peakMb: number
  readonly stallMs: number
}

async function measure({ title, bounds, process, run }: Part, stack: RealTestStack): Promise<Measured> {
  const server = process(stack)
  resetPeak(server)
  await longestStallMs(server)
  const startedMs = performance.now()
  const own = await run(stack)
  const seconds = own ?? (performance.now() - startedMs) / 1_000
  return { title, bounds, seconds, peakMb: peakMb(server), stallMs: await longestStallMs(server) }
}

/**
 * A tracking process that starts with the journal of a dead one: time until it is ready, and until all is in
 * Redis.
 */
async function measureRestart(stack: RealTestStack): Promise<Measured[]> {
  const server = tracking(stack)
  await server.stop()
  await fillJournal(stack.settings.EVENT_DATA_DIR!, SIZE, Date.now())
  const startedMs = performance.now()
  await server.restart()
  const readyS = (performance.now() - startedMs) / 1_000
  const checkIn = { user_id: 'walker-of-the-restart', lat: 24, lng: 120.6 }
  await ok(await stack.fetch('/api/event/checkin', { method: 'POST', body: JSON.stringify(checkIn) }))
  const checkedInS = (performance.now() - startedMs) / 1_000
  const title = `start beside a journal of ${SIZE.journaled.toLocaleString('en')} check-ins`
  let stall = 0
  await until(
    async () => {
      // Each read of the metrics resets the measurement.
      stall = Math.max(stall, await longestStallMs(server))
      return (
        (await journaled(stack)) === 0 &&
        (await healthOf(stack)).buffer_size >= 0.99 * Math.min(SIZE.pilgrims, SIZE.journaled)
      )
    },
    'all journaled check-ins to be in the buffer',
    { timeoutMs: LONGEST_MS, everyMs: 500 },
  )
  const memory = peakMb(server)
  return [
    {
      title: `${title}: until the first check-in is answered`,
      bounds: { seconds: 5, peakMb: 1_000, stallMs: 1_000 },
      seconds: Math.max(readyS, checkedInS),
      peakMb: memory,
      stallMs: stall,
    },
    {
      title: `${title}: until all of them are in Redis`,
      bounds: { seconds: 600, peakMb: 1_000, stallMs: 1_000 },
      seconds: (performance.now() - startedMs) / 1_000,
      peakMb: memory,
      stallMs: stall,
    },
  ]
}

/** Sweeps of the outbox, as run by each subscriber: the slowest statement's time comes from Postgres. */
async function measureOutbox(stack: RealTestStack, databaseUrl: string): Promise<Measured[]> {
  const db = await openDatabase({ url: databaseUrl, dir: '' })
  try {
    const server = stack.service('line-bot')
    resetPeak(server)
    await longestStallMs(server)
    const slowestMs = async () => {
      const [row] = await db.sql<[{ ms: number }]>`
        SELECT coalesce(max(max_exec_time), 0)::float8 AS ms FROM pg_stat_statements
        WHERE query LIKE 'select "id" from "outbox"%'`
      return row.ms
    }
    const title = `sweep of the outbox beside ${SIZE.events.toLocaleString('en')} handled events, slowest statement`
    const part = async (when: string, seconds: number): Promise<Measured> => ({
      title: `${title}: ${when}`,
      bounds: { seconds, peakMb: 400, stallMs: 50 },
      seconds: (await slowestMs()) / 1_000,
      peakMb: peakMb(server),
      stallMs: await longestStallMs(server),
    })
    await until(async () => (await slowestMs()) > 0, 'a sweep of the outbox', { timeoutMs: MINUTE_MS })
    // Only a process's first sweep covers a whole week.
    const first = await part('the first after a start', 10)
    await db.sql`SELECT pg_stat_statements_reset()`
    await Bun.sleep(20_000)
    return [first, await part('each later one', 0.05)]
  } finally {
    await db.close()
  }
}

function row({ title, bounds, seconds, peakMb, stallMs }: Measured): string {
  const cell = (value: number, bound: number, digits: number) =>
    `${value.toFixed(digits)}${value > bound ? ` (above ${bound})` : ''}`
  return `| ${title} | ${cell(seconds, bounds.seconds, 2)} | ${cell(peakMb, bounds.peakMb, 0)} | ${cell(stallMs, bounds.stallMs, 0)} |`
}

const isBeyond = ({ bounds, ...measured }: Measured): boolean =>
  measured.seconds > bounds.seconds || measured.peakMb > bounds.peakMb || measured.stallMs > bounds.stallMs

async function rehearse(): Promise<number> {
  const [database, redis, nats] = await Promise.all([
    openTestDatabase(),
    startRedis({ args: ['--appendfsync', 'everysec'] }),
    startNats(),
  ])
  const calendar = createCalendar('Asia/Taipei')
  const nowMs = Date.now()
  const startMs = calendar.span(calendar.day(nowMs - DAY_MS))[0] + 6 * HOUR_MS
  const filling = performance.now()
  const note = (what: string) =>
    console.log(`${((performance.now() - filling) / 1_000).toFixed(0).padStart(5)} s  ${what}`)
  const db = await openDatabase({ url: database.url, dir: '' })
  const kv = await openKv({ url: redis.url, partitions: 1, path: '', onError })
  const only = values.only?.split(',')
  const wanted = (name: string) => only?.includes(name) ?? true
  note(`filling: ${SIZE.pilgrims} pilgrims, ${SIZE.stored} stored points`)
  await db.sql`CREATE EXTENSION IF NOT EXISTS pg_stat_statements`
  await fillStored(db, SIZE, startMs)
  note(`${SIZE.pilgrims} live positions, ${SIZE.events} events`)
  await fillPositions(kv, SIZE, nowMs)
  await fillEvents(db, SIZE)
  await db.close()
  note('the services start')
  const settings = {
    EVENT_FLUSH_SECONDS: '86400',
    EVENT_MAP_CROWD: '5',
    EVENT_DATA_DIR: await newDirectory('data'),
  }
  const close = async () => void (await Promise.all([database.drop(), redis.close(), nats.close()]))
  const stores = { databaseUrl: database.url, redisUrl: redis.url, natsUrl: nats.url, close }
  const stack = await openTestStackOn({ settings }, stores)
  note(`${SIZE.pending} pending points`)
  // Only now, because the scheduler flushes when it starts.
  await fillPending(kv, SIZE, startMs)
  await kv.close()
  const measured: Measured[] = []
  const took = (...results: Measured[]) => {
    for (const result of results) {
      measured.push(result)
      note(row(result))
    }
  }
  try {
    for (const part of PARTS) if (wanted(part.name)) took(await measure(part, stack))
    if (wanted('outbox')) took(...(await measureOutbox(stack, database.url)))
    if (wanted('restart')) took(...(await measureRestart(stack)))
  } catch (error) {
    // Logged before the stack closes, which may fail for the same reason.
    console.error(error)
    throw error
  } finally {
    await stack.close()
  }
  console.log('\n| part | seconds | peak memory, MB | longest stall, ms |\n| --- | ---: | ---: | ---: |')
  for (const one of measured) console.log(row(one))
  const beyond = share === 1 ? measured.filter(isBeyond).length : 0
  console.log(`\n${measured.length - beyond} passed, ${beyond} failed`)
  return beyond > 0 ? 1 : 0
}

process.exit(
  await besidePostgres('scale', rehearse, [
    'shared_preload_libraries=pg_stat_statements',
    'shared_buffers=1GB',
    'max_wal_size=8GB',
  ]),
)
