/** Measures the cost of a check-in, a flush and a read by the number of pilgrims and points. */
import { openDatabase } from '#shared/stores/db/open-database.ts'
import type { Database } from '#shared/stores/db/db.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import type { Server } from '#tests/helpers/process.ts'
import { onError } from '#tests/kv/drivers.ts'
import { fill } from './aggregates/fill.ts'
import { load } from './load.ts'
import { median } from './measure.ts'
import {
  closeAll,
  cpuSeconds,
  startDatabase,
  startPinned,
  startStore,
  treeCpuSeconds,
} from './measured-processes.ts'
import { buffer, flushAll } from './rows/flush.ts'

/** The stored data before the measurement. */
interface Event {
  readonly pilgrims: number
  readonly points: number
}

const EVENTS: readonly Event[] = [
  { pilgrims: 10_000, points: 1_000_000 },
  { pilgrims: 100_000, points: 1_000_000 },
  { pilgrims: 1_000_000, points: 1_000_000 },
  { pilgrims: 100_000, points: 5_000_000 },
  { pilgrims: 100_000, points: 20_000_000 },
]
/** The same with a fiftieth of everything, for a quick look. */
const QUICK_SHARE = 1 / 50

/** Size and number of the measured flushes. */
const FLUSHED = { pilgrims: 5_000, pointsEach: 20, times: 3 } as const
/** Number of uncached requests for map cells. */
const ANEW = 9
const TOKEN = 'token-of-the-benchmark'

/** Microseconds of CPU per operation, of the service and its store; milliseconds for `cells`. */
interface Costs {
  readonly checkIn: readonly [tracking: number, redis: number]
  readonly flush: readonly [scheduler: number, postgres: number]
  readonly liveMap: number
  readonly profile: readonly [service: number, postgres: number]
  readonly users: readonly [service: number, postgres: number]
  readonly cells: number
}

interface Stage {
  readonly event: Event
  readonly seconds: number
  readonly tracking: Server
  readonly profiles: Server
  readonly admin: Server
  readonly redis: Server
  readonly postgres: Server
  readonly db: Database
  readonly kv: Kv
}

/** Stores the points, starts the measured services, and closes everything afterwards. */
async function onStage<T>(
  postgres: Server,
  event: Event,
  seconds: number,
  work: (stage: Stage) => Promise<T>,
): Promise<T> {
  await using database = await startDatabase()
  await using redis = await startStore('everysec')
  const db = await openDatabase({ url: database.url, dir: '' })
  const kv = await openKv({ url: redis.url, partitions: 1, path: '', onError })
  const perPilgrim = event.points / event.pilgrims
  const rounds = Math.min(8, perPilgrim)
  await fill(db, createCalendar('Asia/Taipei'), {
    pilgrims: event.pilgrims,
    perPilgrim,
    rounds,
    nowMs: Date.now(),
  })
  const env = { DATABASE_URL: database.url, REDIS_URL: redis.url, EVENT_MANAGER_TOKEN: TOKEN }
  const services = await Promise.all(
    (['tracking', 'survey-profile', 'admin'] as const).map((name) => startPinned(name, env)),
  )
  const [tracking, profiles, admin] = services as [Server, Server, Server]
  try {
    return await work({ event, seconds, tracking, profiles, admin, redis, postgres, db, kv })
  } finally {
    await closeAll(services)
    await Promise.all([db.close(), kv.close()])
  }
}

/** CPU of each process per operation, in microseconds. */
async function costs<const T extends readonly (() => number)[]>(
  used: T,
  work: () => Promise<number>,
): Promise<{ [K in keyof T]: number }> {
  const before = used.map((read) => read())
  const operations = await work()
  return used.map((read, i) => ((read() - before[i]!) / operations) * 1e6) as { [K in keyof T]: number }
}

const ofProcess =
  ({ pid }: Server) =>
  (): number =>
    cpuSeconds(pid)
const ofTree =
  ({ pid }: Server) =>
  (): number =>
    treeCpuSeconds(pid)
const ofThisProcess = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** Check-ins of all pilgrims, each of whom has checked in before. */
async function costOfCheckIn(stage: Stage): Promise<Costs['checkIn']> {
  const { event, tracking, redis, seconds } = stage
  const send = async (seed: number, forS: number) => {
    const args = ['/api/event/checkin', event.pilgrims, seed]
    return (await load({ script: 'check-in', url: tracking.url, args, seconds: forS })).requests
  }
  for (let sent = 0, seed = 1; sent < event.pilgrims; seed++) sent += await send(seed, 5)
  return costs([ofProcess(tracking), ofProcess(redis)], () => send(0, seconds))
}

/** Flushes points of existing pilgrims at new times. */
async function costOfFlush({ db, kv, postgres }: Stage): Promise<Costs['flush']> {
  const numbers = (round: number) =>
    Array.from({ length: FLUSHED.pointsEach }, (_, n) => round * FLUSHED.pointsEach + n)
  const rounds: (readonly [number, number])[] = []
  // Flushes the check-ins first, and creates the pilgrims' rows.
  await flushAll(db, kv)
  for (let round = 0; round <= FLUSHED.times; round++) {
    await buffer(kv, FLUSHED.pilgrims, numbers(round))
    await db.sql`CHECKPOINT`
    const [ours, theirs] = await costs([ofThisProcess, ofTree(postgres)], async () => {
      const { stored } = await flushAll(db, kv)
      return stored
    })
    if (round > 0) rounds.push([ours, theirs])
  }
  return [median(rounds.map(([ours]) => ours)), median(rounds.map(([, theirs]) => theirs))]
}

const read = async (url: string, path: string, seconds: number, pilgrims = 1): Promise<number> =>
  (await load({ script: 'read', url, args: [path, pilgrims, TOKEN], seconds })).requests

/** Milliseconds until the cells of the whole event arrive, requested so that no cached response matches. */
async function cellsAnew({ admin }: Stage): Promise<number> {
  const times: number[] = []
  for (let i = 0; i <= ANEW; i++) {
    const path = `/api/event/admin/clusters?bbox=120,20,${121 + i / 1_000},26`
    const started = performance.now()
    const answer = await fetch(`${admin.url}${path}`, { headers: { 'X-Admin-Token': TOKEN } })
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}`)
    // The first request warms the caches of the database.
    if (i > 0) times.push(performance.now() - started)
  }
  return median(times)
}

async function measure(stage: Stage): Promise<Costs> {
  const { event, tracking, profiles, admin, postgres, seconds } = stage
  const checkIn = await costOfCheckIn(stage)
  const map = () => read(tracking.url, '/api/event/data', seconds)
  const [liveMap] = await costs([ofProcess(tracking)], map)
  const flush = await costOfFlush(stage)
  const walker = '/api/event/user/walker-%06d'
  const profile = await costs([ofProcess(profiles), ofTree(postgres)], () =>
    read(profiles.url, walker, seconds, event.pilgrims),
  )
  const users = await costs([ofProcess(admin), ofTree(postgres)], () =>
    read(admin.url, '/api/event/admin/users?sort=km&limit=50', seconds),
  )
  return { checkIn, liveMap, flush, profile, users, cells: await cellsAnew(stage) }
}

const shown = (...figures: readonly number[]): string =>
  figures.map((figure) => (figure < 10 ? figure.toFixed(1) : figure.toFixed(0))).join(' + ')

/** Prints the table of this folder’s README; a quarter of an hour and more, and 10 GB of disk. */
export async function measureGrowth(postgres: Server, quick: boolean): Promise<void> {
  const share = quick ? QUICK_SHARE : 1
  console.log(
    `| pilgrims | points | check-in: tracking + Redis | flush, a point: scheduler + Postgres | live map: tracking | profile: service + Postgres | page of users: admin + Postgres | cells of the map, anew |`,
  )
  console.log(`| --- | --- | --- | --- | --- | --- | --- | --- |`)
  for (const { pilgrims, points } of EVENTS) {
    const event = { pilgrims: pilgrims * share, points: points * share }
    const all = await onStage(postgres, event, quick ? 2 : 8, measure)
    const micro = [all.checkIn, all.flush, [all.liveMap], all.profile, all.users]
    const cells = [
      event.pilgrims.toLocaleString('en'),
      event.points.toLocaleString('en'),
      ...micro.map((parts) => `${shown(...parts)} µs`),
      `${shown(all.cells)} ms`,
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
}
