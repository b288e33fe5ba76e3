/**
 * Measures the reads of operators and of the map at two sizes of the event, in turns, beside a `SELECT 1` behind the
 * same token, rate limit and router. No answer comes from a cache, because each service's clock is past its lifetime.
 */
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { z } from 'zod'
import { createAdmin } from '#services/admin/app.ts'
import { createTracking } from '#services/tracking/app.ts'
import { readConfig } from '#shared/runtime/config/config.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { endpointsOf } from '#shared/contracts/endpoint.ts'
import { migrateDatabase } from '#shared/stores/db/migrate.ts'
import { createRouter } from '#shared/service/http/router.ts'
import { createLog } from '#shared/runtime/log.ts'
import { contextOf, openPorts } from '#shared/service/service.ts'
import { startPostgres, startRedis } from '#tests/helpers/servers.ts'
import { fillPositions } from '#tests/scale/fill.ts'
import { fill } from './aggregates/fill.ts'
import { median } from './measure.ts'

const ROUNDS = 41
const HOUR_MS = 3_600_000
const WARMING = 3
/** Rounds of flushes that the points came in, so that projections were updated as in an event. */
const FLUSHES = 8
const TOKEN = 'token-of-the-bench'
const PER_PILGRIM = { small: 4, large: 40 } as const
const SELECT_1 = 'SELECT 1'
/** The map's cells when a flush has changed them a moment ago, so that front and tail are worked out anew. */
const AFTER_FLUSH = 'clusters after a flush'

/**
 * What is asked, each time in words that no kept answer knows. Of the map it is all of the event at the zoom that a
 * console begins with: more than 4,000 cells, near the most that one answer has.
 */
const ASKED: Record<string, (round: number) => string> = {
  carbon: () => '/api/event/admin/carbon',
  timeline: () => '/api/event/admin/timeline',
  users: () => '/api/event/admin/users',
  'users by km': () => '/api/event/admin/users?sort=km',
  'users by check-ins': () => '/api/event/admin/users?sort=checkins',
  'users by last seen': () => '/api/event/admin/users?sort=last_seen',
  'users, searched': (round) => `/api/event/admin/users?search=${4_000 + round}`,
  clusters: (round) => `/api/event/admin/clusters?bbox=120,20,${121 + round / 1_000},26`,
  [AFTER_FLUSH]: (round) => `/api/event/admin/clusters?bbox=120,20,${122 + round / 1_000},26`,
  'clusters, another since': (round) =>
    `/api/event/admin/clusters?since=${new Date(Date.now() - (8 + round) * HOUR_MS).toISOString()}`,
  'clusters, another k': (round) => `/api/event/admin/clusters?k=${4 + round}`,
  surveys: () => '/api/event/admin/surveys',
  'live map': (round) => `/api/event/data?bbox=120,20,${121 + round / 1_000},26`,
}

/** Times of every aggregate at two sizes of the event, beside `SELECT 1` through the same router. */
interface Aggregate {
  readonly name: string
  /** Medians at 4 and at 40 points of each pilgrim, milliseconds. */
  readonly smallMs: number
  readonly largeMs: number
  /** Large over small: median of the rounds. */
  readonly growth: number
  /** Large over a bare `SELECT 1`: median of the rounds. */
  readonly overSelect1: number
}

interface Measured {
  readonly pilgrims: number
  readonly select1Ms: number
  readonly aggregates: readonly Aggregate[]
}

/** The services over one database, asked over HTTP on the loopback. */
interface Side {
  ask(path: string): Promise<number>
  /** Writes the map's newest tiles again, as a flush does. */
  changeMap(): Promise<void>
  close(): Promise<void>
}

/**
 * Fills two databases through the flush (half a minute and more) and reads them in turns.
 * @param pilgrims how many; 4 and 40 points each
 */
async function measureAggregates({ pilgrims }: { readonly pilgrims: number }): Promise<Measured> {
  await using server = await startPostgres()
  await using redis = await startRedis()
  const dataDir = mkdtempSync(join(tmpdir(), 'event-aggregates-'))
  try {
    const open = (name: keyof typeof PER_PILGRIM) =>
      openSide({ databaseUrl: server.url, name, redisUrl: redis.url, dataDir, pilgrims })
    const small = await open('small')
    const large = await open('large')
    const times = await takeTurns({ small, large })
    await Promise.all([small.close(), large.close()])
    return summaryOf(pilgrims, times)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

type Times = Map<string, number[]>

async function takeTurns(sides: Record<'small' | 'large', Side>): Promise<Times> {
  const times: Times = new Map()
  const asked = Object.entries<(round: number) => string>({
    ...ASKED,
    [SELECT_1]: () => '/bench/select-1',
  })
  for (let round = -WARMING; round < ROUNDS; round++)
    for (const [name, pathOf] of asked)
      for (const size of round % 2 === 0 ? (['small', 'large'] as const) : (['large', 'small'] as const)) {
        if (name === AFTER_FLUSH) await sides[size].changeMap()
        const ms = await sides[size].ask(pathOf(round))
        if (round < 0) continue
        const key = `${name} ${size}`
        times.set(key, [...(times.get(key) ?? []), ms])
      }
  return times
}

function summaryOf(pilgrims: number, times: Times): Measured {
  const of = (name: string, size: string) => times.get(`${name} ${size}`)!
  /** Round by round, as the two were asked one after the other: what else the machine did meets both. */
  const ratio = (over: readonly number[], under: readonly number[]) =>
    median(over.map((ms, i) => ms / under[i]!))
  const bare = of(SELECT_1, 'large')
  const aggregates = Object.keys(ASKED).map((name): Aggregate => {
    const [small, large] = [of(name, 'small'), of(name, 'large')]
    return {
      name,
      smallMs: median(small),
      largeMs: median(large),
      growth: ratio(large, small),
      overSelect1: ratio(large, bare),
    }
  })
  return { pilgrims, select1Ms: median(bare), aggregates }
}

interface SideOptions {
  readonly databaseUrl: string
  readonly name: keyof typeof PER_PILGRIM
  readonly redisUrl: string
  readonly dataDir: string
  readonly pilgrims: number
}

async function openSide({ databaseUrl, name, redisUrl, dataDir, pilgrims }: SideOptions): Promise<Side> {
  const root = postgres(databaseUrl, { max: 1, onnotice: () => undefined })
  await root.unsafe(`CREATE DATABASE ${name}`)
  await root.end()
  const url = new URL(databaseUrl)
  url.pathname = name
  const config = readConfig({
    DATABASE_URL: url.href,
    REDIS_URL: `${redisUrl}/${name === 'small' ? 0 : 1}`,
    EVENT_DATA_DIR: join(dataDir, name),
    EVENT_MANAGER_TOKEN: TOKEN,
    EVENT_LIMIT_ADMIN: '1000000',
  })
  const log = createLog({}, () => undefined)
  const ports = await openPorts(config, log, Date.now, migrateDatabase)
  const perPilgrim = PER_PILGRIM[name]
  const rounds = Math.min(FLUSHES, perPilgrim)
  await fill(ports.db, ports.calendar, { pilgrims, perPilgrim, rounds, nowMs: Date.now() })
  await fillPositions(ports.kv, { pilgrims }, Date.now())
  const client = { tls: false, addressOf: () => 'the bench' }
  // Past all that is kept: each answer is made anew.
  let asks = 0
  const later = () => Date.now() + asks * 120_000
  const context = { ...contextOf(ports, 'admin', log, client), now: later }
  const tracking = createTracking(contextOf(ports, 'tracking', log, client))
  const admin = createAdmin(context)
  const bare = createBare(context)
  await tracking.start()
  const http = Bun.serve({
    port: 0,
    fetch: (request) => {
      const { pathname } = new URL(request.url)
      const service =
        pathname === '/bench/select-1' ? bare : pathname === '/api/event/data' ? tracking : admin
      return service.fetch(request)
    },
  })
  return {
    async ask(path) {
      for (let tries = 0; ; tries++) {
        asks++
        const started = performance.now()
        const answer = await fetch(new URL(path, http.url), { headers: { 'X-Admin-Token': TOKEN } })
        const text = await answer.text()
        if (answer.status === 200) return performance.now() - started
        // On a busy machine the live map may be behind for a moment.
        if (answer.status !== 503 || tries === 50)
          throw new Error(`${path} answered ${answer.status}: ${text}`)
        await Bun.sleep(200)
      }
    },
    async changeMap() {
      await ports.db.sql`
        UPDATE cell_tiles SET users = users WHERE zoom = 14 AND span = 'day' AND start =
          (SELECT max(start) FROM cell_tiles WHERE zoom = 14 AND span = 'day')`
    },
    async close() {
      await http.stop(true)
      await tracking.stop()
      await ports.close()
    },
  }
}

/** Asks the database for nothing, behind the same token, limit and router as every aggregate. */
function createBare(context: ServiceContext) {
  const router = createRouter(context)
  const { serve } = router
  const one = endpointsOf('admin')('GET /bench/select-1', {
    id: 'readOne',
    summary: 'SELECT 1',
    access: 'manager',
    data: z.object({ one: z.int() }),
  })
  serve(one, async () => {
    const [row] = await context.db.sql<[{ one: number }]>`SELECT 1 AS one`
    return row
  })
  return router.app
}

const SLOWER = 1.3
const OVER_SELECT_1 = 20

const USAGE = `Measures the reads of operators and of the map at 4 and at 40 points of each pilgrim, beside a SELECT 1.

  bun tests/bench/aggregates.ts [pilgrims]

  pilgrims   how many (default: 50000)
  --help     print this text

Exit codes: 0 all goals met, 1 a goal was missed, 2 wrong command line.`

const { positionals } = readCommandLine(USAGE, {}, 1)
const result = await measureAggregates({ pilgrims: Number(positionals[0] ?? 50_000) })
let missed = 0
for (const { name, smallMs, largeMs, growth, overSelect1 } of result.aggregates) {
  const met = growth <= SLOWER && overSelect1 <= OVER_SELECT_1
  if (!met) missed++
  console.log(
    `${met ? ' ' : '!'} ${name.padEnd(26)} ${smallMs.toFixed(2).padStart(8)} ms ${largeMs.toFixed(2).padStart(8)} ms` +
      ` × ${growth.toFixed(2)}   ${overSelect1.toFixed(1).padStart(5)} × SELECT 1`,
  )
}
console.log(`  SELECT 1 ${result.select1Ms.toFixed(3)} ms`)
process.exitCode = missed === 0 ? 0 : 1
