/** Frequent reads: the live map, map cells, profiles. */
import { join } from 'node:path'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { newDirectory, type Server } from '#tests/helpers/process.ts'
import { onError } from '#tests/kv/drivers.ts'
import { fillPositions, walkerId } from '#tests/tools/scale/fill.ts'
import { fill } from '../aggregates/fill.ts'
import { load } from '../load.ts'
import type { Contender, Row, Scale } from '../measure.ts'
import {
  closeAll,
  type Opened as OpenedStore,
  postmaster,
  type Processes,
  startBare,
  startDatabase,
  startPeer,
  startPinned,
  startStore,
  withCpu,
} from '../measured-processes.ts'

const PILGRIMS = 50_000
const POINTS_EACH = 40

interface Filled {
  readonly database: OpenedStore
  readonly redis: Server
  readonly pilgrims: number
  close(): Promise<void>
}

/** 50,000 pilgrims with 2,000,000 points in the database, each with a position in the kv. */
async function openFilled(scale: Scale): Promise<Filled> {
  const pilgrims = Math.max(100, Math.round(PILGRIMS * scale.share))
  const [database, redis] = await Promise.all([startDatabase(), startStore('everysec')])
  const db = await openDatabase({ url: database.url, dir: '' })
  const kv = await openKv({ url: redis.url, partitions: 1, path: '', onError })
  await fill(db, createCalendar('Asia/Taipei'), {
    pilgrims,
    perPilgrim: POINTS_EACH,
    rounds: 4,
    nowMs: Date.now(),
  })
  await fillPositions(kv, { pilgrims }, Date.now())
  await Promise.all([db.close(), kv.close()])
  return { database, redis, pilgrims, close: () => closeAll([database, redis]) }
}

const reader = (
  name: string,
  role: Contender['role'],
  url: string,
  path: string,
  scale: Scale,
  processes: Processes,
  { pilgrims = 1, connections = 64, token = '' } = {},
): Contender => ({
  name,
  role,
  async measure() {
    const args = [path, pilgrims, token]
    const { loaded, cpu } = await withCpu(processes, () =>
      load({ script: 'read', url, args, connections, seconds: scale.seconds }),
    )
    return { figure: loaded.requests / loaded.seconds, cpu }
  },
})

/** A bare server that returns the same bytes from memory. */
async function startSameBytes(url: string, headers: Record<string, string> = {}): Promise<Server> {
  const answer = await fetch(url, { headers })
  if (!answer.ok) throw new Error(`${url} was answered ${answer.status}`)
  const file = join(await newDirectory('bytes'), 'answer.json')
  await Bun.write(file, await answer.arrayBuffer())
  return startBare('bytes', file)
}

/** The same response by a query over all points. */
const startQuerying = (what: 'latest' | 'cells', databaseUrl: string): Promise<Server> =>
  startPeer('querying', (port) => [
    process.execPath,
    join(import.meta.dir, '../peers/querying.ts'),
    `${port}`,
    what,
    databaseUrl,
  ])

const TOKEN = 'token-of-the-benchmark'

/** Map data, compared with the same bytes from memory, and with a query over the points. */
const mapRow = (
  map: { id: string; title: string; path: string; query: 'latest' | 'cells' },
  service: 'tracking' | 'admin',
): Row => ({
  id: map.id,
  title: map.title,
  unit: 'answers/s',
  warm: true,
  async open(scale) {
    const filled = await openFilled(scale)
    const ours = await startPinned(service, {
      DATABASE_URL: filled.database.url,
      REDIS_URL: filled.redis.url,
      EVENT_VOLUNTEER_TOKEN: TOKEN,
    })
    const token = service === 'admin' ? TOKEN : ''
    const bare = await startSameBytes(
      `${ours.url}${map.path}`,
      token === '' ? {} : { 'X-Admin-Token': token },
    )
    const querying = await startQuerying(map.query, filled.database.url)
    const stores = { Redis: filled.redis.pid, Postgres: await postmaster(filled.database.url) }
    const { Postgres } = stores
    const read = (name: string, role: Contender['role'], { url, pid }: Server, also: Processes, more = {}) =>
      reader(name, role, url, map.path, scale, { [role === 'ours' ? service : 'Bun']: pid, ...also }, more)
    return {
      contenders: [
        read(service, 'ours', ours, stores, { token }),
        read('bare server, the same bytes', 'limit', bare, {}, { token }),
        // Each of its responses takes seconds, so only few may be in progress.
        read('a query over the points', 'peer', querying, { Postgres }, { connections: 2 }),
      ],
      goals: [
        { of: 'bare server, the same bytes', atLeast: 0.6 },
        { of: 'a query over the points', atLeast: 100 },
      ],
      async close() {
        await closeAll([ours, bare, querying])
        await filled.close()
      },
    }
  },
})

export const liveMap = mapRow(
  {
    id: 'live-map',
    title: 'live map (GET data), 50,000 pilgrims, 2,000,000 points, 64 readers',
    path: '/api/event/data',
    query: 'latest',
  },
  'tracking',
)
export const clusters = mapRow(
  {
    id: 'clusters',
    title: 'cells of the map (GET admin/clusters), the same pilgrims, 64 readers',
    path: '/api/event/admin/clusters?zoom=10',
    query: 'cells',
  },
  'admin',
)

const profileRow = (id: string, title: string, warm: boolean): Row => ({
  id,
  title,
  unit: 'answers/s',
  warm: true,
  async open(scale) {
    const filled = await openFilled({ ...scale, share: scale.share / 4 })
    const env = { DATABASE_URL: filled.database.url, REDIS_URL: filled.redis.url }
    const service = await startPinned('survey-profile', env)
    const pilgrims = warm ? 1 : Math.min(filled.pilgrims, 10_000)
    const path = '/api/event/user/walker-%06d'
    const limit = warm
      ? await startSameBytes(`${service.url}/api/event/user/${walkerId(1)}`)
      : await startBare('select', filled.database.url)
    const name = warm ? 'bare server, the same bytes' : 'one SELECT 1'
    const address = warm ? `/api/event/user/${walkerId(1)}` : path
    const Postgres = await postmaster(filled.database.url)
    const ours = { 'survey-profile': service.pid, Redis: filled.redis.pid, Postgres }
    const theirs = { Bun: limit.pid, ...(!warm && { Postgres }) }
    return {
      contenders: [
        reader('survey-profile', 'ours', service.url, address, scale, ours, { pilgrims }),
        reader(name, 'limit', limit.url, address, scale, theirs, { pilgrims }),
      ],
      goals: [{ of: name, atLeast: warm ? 0.45 : 0.5 }],
      async close() {
        await closeAll([service, limit])
        await filled.close()
      },
    }
  },
})

export const warmProfile = profileRow('profile-warm', 'profile, the same pilgrim again and again', true)
export const coldProfile = profileRow('profile-cold', 'profile, another pilgrim each time', false)
