/** What many people read: the live map, the map's cells, profiles. */
import { join } from 'node:path'
import { openDatabase } from '#shared/db/db.ts'
import { type Kv, openKv, type Submission } from '#shared/kv/kv.ts'
import { createCalendar } from '#shared/rules/calendar.ts'
import { newDirectory, type Server } from '#tests/helpers/process.ts'
import { onError, rules } from '#tests/kv/drivers.ts'
import { fill, walkerId } from '../aggregates/fill.ts'
import { load } from '../load.ts'
import type { Contender, Row, Scale } from '../measure.ts'
import {
  closeAll,
  type Opened as OpenedStore,
  startBare,
  startDatabase,
  startPeer,
  startPinned,
  startStore,
} from '../parts.ts'

const PILGRIMS = 50_000
const POINTS_EACH = 40
const AT_ONCE = 250

interface Filled {
  readonly database: OpenedStore
  readonly redis: Server
  readonly pilgrims: number
  close(): Promise<void>
}

/** 50,000 pilgrims with 2,000,000 points in the database, and each with a place in the kv. */
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
  await place(kv, pilgrims)
  await Promise.all([db.close(), kv.close()])
  return { database, redis, pilgrims, close: () => closeAll([database, redis]) }
}

async function place(kv: Kv, pilgrims: number): Promise<void> {
  const t = Date.now()
  for (let from = 0; from < pilgrims; from += AT_ONCE) {
    const submissions = Array.from({ length: Math.min(AT_ONCE, pilgrims - from) }, (_, k): Submission => {
      const i = from + k
      const position = { t: t - i, lat: 24 + (i % 997) / 1_000, lng: 120.5 + (i % 89) / 100 }
      return {
        id: `${i}`,
        userId: walkerId(i),
        kind: 'sync',
        entries: [],
        duplicateKey: '',
        recordedMs: t,
        position,
      }
    })
    await kv.restore(0, submissions, rules())
  }
}

const reader = (
  name: string,
  role: Contender['role'],
  url: string,
  path: string,
  scale: Scale,
  pilgrims = 1,
  connections = 64,
): Contender => ({
  name,
  role,
  async measure() {
    const { requests, seconds } = await load({
      script: 'read',
      url,
      args: [path, pilgrims],
      connections,
      seconds: scale.seconds,
    })
    return requests / seconds
  },
})

/** A bare server that answers what another one answered just now, from memory. */
async function startSameBytes(url: string, headers: Record<string, string> = {}): Promise<Server> {
  const answer = await fetch(url, { headers })
  if (!answer.ok) throw new Error(`${url} was answered ${answer.status}`)
  const file = join(await newDirectory('bytes'), 'answer.json')
  await Bun.write(file, await answer.arrayBuffer())
  return startBare('bytes', file)
}

/** The answer by a query over all points. */
const startQuerying = (what: 'latest', databaseUrl: string): Promise<Server> =>
  startPeer('querying', (port) => [
    process.execPath,
    join(import.meta.dir, '../peers/querying.ts'),
    `${port}`,
    what,
    databaseUrl,
  ])

export const liveMap: Row = {
  id: 'live-map',
  title: 'live map (GET data), 50,000 pilgrims, 64 readers',
  unit: 'answers/s',
  async open(scale) {
    const filled = await openFilled(scale)
    const env = { DATABASE_URL: filled.database.url, REDIS_URL: filled.redis.url }
    const tracking = await startPinned('tracking', env)
    const path = '/api/event/data'
    const bare = await startSameBytes(`${tracking.url}${path}`)
    const querying = await startQuerying('latest', filled.database.url)
    return {
      contenders: [
        reader('tracking', 'ours', tracking.url, path, scale),
        reader('bare server, the same bytes', 'limit', bare.url, path, scale),
        // Each of its answers takes seconds, so that few may wait at a time.
        reader('a query over the points', 'peer', querying.url, path, scale, 1, 2),
      ],
      goals: [
        { of: 'bare server, the same bytes', atLeast: 0.6 },
        { of: 'a query over the points', atLeast: 100 },
      ],
      async close() {
        await closeAll([tracking, bare, querying])
        await filled.close()
      },
    }
  },
}

const profileRow = (id: string, title: string, warm: boolean): Row => ({
  id,
  title,
  unit: 'answers/s',
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
    return {
      contenders: [
        reader('survey-profile', 'ours', service.url, address, scale, pilgrims),
        reader(name, 'limit', limit.url, address, scale, pilgrims),
      ],
      goals: [{ of: name, atLeast: 0.5 }],
      async close() {
        await closeAll([service, limit])
        await filled.close()
      },
    }
  },
})

export const warmProfile = profileRow('profile-warm', 'profile, the same pilgrim again and again', true)
export const coldProfile = profileRow('profile-cold', 'profile, another pilgrim each time', false)
