/**
 * Measures the reads of operators and of the map at two sizes of the event, in turns, beside a `SELECT 1` behind the
 * same token, rate limit and router. No answer comes from a cache, because each service's clock is past its lifetime.
 */
import { z } from 'zod'
import { createAdmin } from '#services/admin/app.ts'
import { createTracking } from '#services/tracking/app.ts'
import { endpointsOf } from '#shared/contracts/endpoint.ts'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { createRouter } from '#shared/service/http/router.ts'
import { besidePostgres } from '#tests/helpers/in-directory.ts'
import { startRedis } from '#tests/helpers/servers.ts'
import { openServiceParts } from '#tests/helpers/service-parts.ts'
import { fillPositions } from '#tests/tools/scale/fill.ts'
import { fill } from './aggregates/fill.ts'
import { median } from './measure.ts'
import { closeAll, startDatabase } from './measured-processes.ts'

const ROUNDS = 41
const HOUR_MS = 3_600_000
const WARMING = 3
/** Number of flushes in which the points arrived, so that projections were updated as in an event. */
const FLUSHES = 8
const TOKEN = 'token-of-the-bench'
const PER_PILGRIM = { small: 4, large: 40 } as const
type Size = keyof typeof PER_PILGRIM
const SIZES = ['small', 'large'] as const
const BARE = '/bench/select-1'
const SELECT_1 = 'SELECT 1'
/** The map's cells just after a flush has changed them, so that front and tail are computed again. */
const AFTER_FLUSH = 'clusters after a flush'

/**
 * Requests, each worded differently so that no cached response matches. The map is requested for the whole
 * event at the console's initial zoom: more than 4,000 cells, near the maximum of a response.
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

/** A database with the services on it, queried over HTTP on the loopback. */
interface Side extends AsyncDisposable {
  ask(path: string): Promise<number>
  /** Rewrites the map's newest tiles, as a flush does. */
  changeMap(): Promise<void>
}

/** Fills it through the flush (a quarter of a minute or more). */
async function openSide(pilgrims: number, perPilgrim: number): Promise<Side> {
  const [database, redis] = await Promise.all([startDatabase(), startRedis()])
  const parts = await openServiceParts({
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    EVENT_MANAGER_TOKEN: TOKEN,
    EVENT_LIMIT_ADMIN: '1000000',
  })
  const { db, calendar, kv } = parts.ports
  const rounds = Math.min(FLUSHES, perPilgrim)
  await fill(db, calendar, { pilgrims, perPilgrim, rounds, nowMs: Date.now() })
  await fillPositions(kv, { pilgrims }, Date.now())
  // Past the lifetime of every cache: each response is computed again.
  let asks = 0
  const context = { ...parts.context('admin'), now: () => Date.now() + asks * 120_000 }
  const tracking = createTracking(parts.context('tracking'))
  const admin = createAdmin(context)
  const bare = createBare(context)
  await tracking.start()
  const http = Bun.serve({
    port: 0,
    fetch: (request) => {
      const { pathname } = new URL(request.url)
      const service = pathname === BARE ? bare : pathname === '/api/event/data' ? tracking : admin
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
      await db.sql`
        UPDATE cell_tiles SET users = users WHERE zoom = 14 AND span = 'day' AND start =
          (SELECT max(start) FROM cell_tiles WHERE zoom = 14 AND span = 'day')`
    },
    async [Symbol.asyncDispose]() {
      await http.stop(true)
      await tracking.stop()
      await parts.close()
      await closeAll([database, redis])
    },
  }
}

/** A trivial database query behind the same token, limit and router as every aggregate. */
function createBare(context: ServiceContext) {
  const router = createRouter(context)
  const one = endpointsOf('admin')(`GET ${BARE}`, {
    id: 'readOne',
    summary: 'SELECT 1',
    access: 'manager',
    data: z.object({ one: z.int() }),
  })
  router.serve(one, async () => {
    const [row] = await context.db.sql<[{ one: number }]>`SELECT 1 AS one`
    return row
  })
  return router.app
}

/**
 * Milliseconds of each round, alternating between the sides, so that other load on the machine affects both.
 */
async function measureRounds(sides: Record<Size, Side>): Promise<Record<string, Record<Size, number[]>>> {
  const times: Record<string, Record<Size, number[]>> = {}
  for (let round = -WARMING; round < ROUNDS; round++)
    for (const [name, pathOf] of Object.entries<(round: number) => string>({
      ...ASKED,
      [SELECT_1]: () => BARE,
    }))
      for (const size of round % 2 === 0 ? SIZES : SIZES.toReversed()) {
        if (name === AFTER_FLUSH) await sides[size].changeMap()
        const ms = await sides[size].ask(pathOf(round))
        if (round >= 0) (times[name] ??= { small: [], large: [] })[size].push(ms)
      }
  return times
}

const SLOWER = 1.3
const OVER_SELECT_1 = 20

const USAGE = `Measures the reads of operators and of the map at 4 and at 40 points of each pilgrim, beside a SELECT 1.

  bun tests/tools/bench/aggregates.ts [pilgrims]

  pilgrims   how many (default: 50000)
  --help     print this text

Exit codes: 0 all goals met, 1 a goal was missed, 2 wrong command line.`

const { positionals } = readCommandLine(USAGE, {}, 1)
const pilgrims = Number(positionals[0] ?? 50_000)

process.exitCode = await besidePostgres('aggregates', async () => {
  await using small = await openSide(pilgrims, PER_PILGRIM.small)
  await using large = await openSide(pilgrims, PER_PILGRIM.large)
  const { [SELECT_1]: bare, ...times } = await measureRounds({ small, large })
  /** Round by round, because the two were measured one after the other. */
  const ratio = (over: readonly number[], under: readonly number[]) =>
    median(over.map((ms, i) => ms / under[i]!))
  let missed = 0
  for (const [name, of] of Object.entries(times)) {
    const [growth, overSelect1] = [ratio(of.large, of.small), ratio(of.large, bare!.large)]
    const met = growth <= SLOWER && overSelect1 <= OVER_SELECT_1
    if (!met) missed++
    const [smallMs, largeMs] = [of.small, of.large].map((all) => median(all).toFixed(2).padStart(8))
    console.log(
      `${met ? ' ' : '!'} ${name.padEnd(26)} ${smallMs} ms ${largeMs} ms × ${growth.toFixed(2)}   ` +
        `${overSelect1.toFixed(1).padStart(5)} × SELECT 1`,
    )
  }
  console.log(`  SELECT 1 ${median(bare!.large).toFixed(3)} ms`)
  return missed === 0 ? 0 : 1
})
