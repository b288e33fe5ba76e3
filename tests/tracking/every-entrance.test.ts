/**
 * Every endpoint that accepts points, with every number of points and the kv in every state: acknowledged
 * points are stored, one by one, and rejected points are not.
 *
 * TEST_CASES=100000 bun run test tests/tracking/every-entrance.test.ts runs more cases; TEST_SEED repeats a
 * run.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeArchive } from '#services/admin/backup/archive.ts'
import { restoreWaiting } from '#services/admin/restore.ts'
import { checkIn } from '#shared/points/check-in.ts'
import { ingest } from '#services/tracking/ingest/serve-ingest.ts'
import { readOverland, readOwnTracks, readRequest } from '#services/tracking/ingest/tracker-formats.ts'
import { pack } from '#shared/points/point.ts'
import { syncTrack } from '#shared/points/sync-track.ts'
import { readConfig } from '#shared/runtime/config/config.ts'
import { MAX_POINTS } from '#shared/contracts/fields.ts'
import { CheckInRequest, MAX_ATTACHED, TrackSyncRequest } from '#shared/contracts/gps-points.ts'
import type { Database } from '#shared/stores/db/db.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { Refusal } from '#shared/runtime/refusal.ts'
import { isKvUnavailable, type Kv, type Submission } from '#shared/stores/kv/kv.ts'
import { openRedisKv } from '#shared/stores/kv/kv.redis.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { type Replica, startReplica } from '#tests/points/replica.ts'
import { openTestDatabase, type TestDatabase } from '#tests/helpers/database.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { type Server, startRedis } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { openTcpProxy, type TcpProxy } from '#tests/helpers/tcp-proxy.ts'
import { until } from '#tests/helpers/wait.ts'
import { rules } from '#tests/kv/drivers.ts'
import { asked } from '#tests/kv/failing-kv.ts'
import { type Random, createRandom } from '#tests/helpers/random.ts'
import { point } from '#tests/scheduler/walks.ts'
import { type Fix, FORMS, overland, type Sent, traccar10Json } from './tracker-bodies.ts'

const CASES = Number(process.env.TEST_CASES ?? 1_000)
const SEED = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
const AT_ONCE = 25
const ROUND = 1_000
const SETTLED_MS = 60_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const STATES = ['well', 'late', 'away', 'coming and going'] as const
type State = (typeof STATES)[number]

/** What a case was promised: identities of points, and whether it was acknowledged. */
interface Promised {
  readonly name: string
  readonly userId: string
  readonly stored: readonly string[]
  /** Points that were rejected one by one. */
  readonly rejected: readonly string[]
}

const acceptRules = {
  calendar: createCalendar('Asia/Taipei'),
  area: () => true,
  maxAgeMs: 30 * 86_400_000,
  clearedMs: () => null,
  count: () => undefined,
}
const unlimited = { max: 1_000_000, windowMs: MINUTE_MS }
const RULES = rules({ checkin: unlimited, sync: unlimited, ingest: unlimited, pendingMax: 1_000_000 })
const ENCODER = new TextEncoder()

/** Usually small; often a limit, or one more. */
function countBy(random: Random, most: number): number {
  const bounds = [0, 1, 999, 1_000, 1_001, 2_500, most - 1, most, most + 1]
  return random() < 0.12
    ? bounds[Math.floor(random() * bounds.length)]!
    : Math.floor(random() ** 3 * Math.min(most, 400))
}

interface SentPoint {
  readonly lat: number
  readonly lng: number
  readonly timestamp?: number
}

/** Points of a track, one in twenty invalid or repeated. */
function track(random: Random, count: number): SentPoint[] {
  const startMs = Date.now() - 6 * 3_600_000
  const points: SentPoint[] = []
  for (let i = 0; i < count; i++) {
    const chance = random()
    const good = { lat: 24 + i / 1e4, lng: 120.5, timestamp: startMs + i * 3_000 }
    if (chance > 0.05) points.push(good)
    else if (chance > 0.03) points.push(points.at(-1) ?? good)
    else if (chance > 0.02) points.push({ lat: 24, lng: 120.5 })
    else if (chance > 0.01) points.push({ ...good, lat: 91 })
    else points.push({ ...good, timestamp: Date.now() + 3_600_000 })
  }
  return points
}

/** Points that a response accepted, and those that it rejected by index. */
function split(points: readonly SentPoint[], rejections: readonly { readonly index: number }[]) {
  const indexes = new Set(rejections.map(({ index }) => index))
  return [points.filter((_, i) => !indexes.has(i)), points.filter((_, i) => indexes.has(i))] as const
}

const nameOf = ({ timestamp }: SentPoint): string => `t${timestamp}`

/** A refused request promises nothing. */
async function orNothing(name: string, userId: string, call: () => Promise<Promised>): Promise<Promised> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    expect([400, 413, 503]).toContain(error.httpStatus)
    return { name, userId, stored: [], rejected: [] }
  }
}

function readSent({ app, query = '', body = '' }: Sent) {
  const bytes = ENCODER.encode(body)
  if (app === 'owntracks') return readOwnTracks(bytes)
  if (app === 'overland') return readOverland(bytes)
  const parameters = Object.fromEntries(new URLSearchParams(query))
  return readRequest(app, app === 'traccar' ? 'knots' : 'metresASecond', parameters, bytes)
}

type Entrance = (replica: Replica, random: Random, userId: string) => Promise<Promised>

const checkingIn: Entrance = (replica, random, userId) => {
  const points = track(random, countBy(random, MAX_ATTACHED))
  const timestamp = Date.now() - Math.floor(random() * MINUTE_MS)
  const request = CheckInRequest.parse({
    user_id: userId,
    lat: 24,
    lng: 120.5,
    timestamp,
    track_points: points,
  })
  return orNothing('check-in', userId, async () => {
    const { track } = await checkIn(replica, request, Date.now(), { ...acceptRules, limit: unlimited })
    const [taken, rejected] = split(points, track!.rejected)
    return {
      name: 'check-in',
      userId,
      stored: [`c${timestamp}`, ...taken.map(nameOf)],
      rejected: rejected.map(nameOf),
    }
  })
}

const syncing: Entrance = (replica, random, userId) => {
  const points = track(random, countBy(random, MAX_POINTS))
  return orNothing('track/sync', userId, async () => {
    const request = TrackSyncRequest.safeParse({ user_id: userId, points })
    if (!request.success) {
      expect(points.length === 0 || points.length > MAX_POINTS).toBe(true)
      return { name: 'track/sync', userId, stored: [], rejected: points.map(nameOf) }
    }
    const answer = await syncTrack((one) => replica.admitTrack(one), request.data, Date.now(), {
      ...acceptRules,
      limit: unlimited,
    })
    const [taken, rejected] = split(points, answer.rejected)
    expect(answer.accepted + answer.duplicates).toBe(taken.length)
    return { name: 'track/sync', userId, stored: taken.map(nameOf), rejected: rejected.map(nameOf) }
  })
}

const taking =
  (name: string, most: number, sentOf: (...fixes: Fix[]) => Sent): Entrance =>
  (replica, random, userId) => {
    const startMs = Math.floor(Date.now() / 1_000) * 1_000 - 6 * 3_600_000
    const fixes = Array.from({ length: most === 1 ? 1 : countBy(random, most) }, (_, i): Fix => ({
      lat: 24 + i / 1e4,
      lng: 120.5,
      ms: startMs + i * 3_000,
      speedMs: 1,
    }))
    return orNothing(name, userId, async () => {
      const context = {
        admit: () => (submission: Submission) => replica.admitDurably(submission),
        presses: { keep: async () => null },
        findKey: async () => userId,
        noteUse: () => undefined,
        noteAhead: async () => null,
        rules: { ...acceptRules, limit: unlimited },
        isClaim: () => false,
        now: Date.now,
        chargeAlarm: () => undefined,
      }
      const sent = sentOf(...fixes)
      const { status } = await ingest(
        context,
        sent.app,
        'key',
        () => readSent(sent),
        new Request('http://localhost/'),
      )
      expect(status).toBe(200)
      return { name, userId, stored: fixes.map(({ ms }) => `t${ms}`), rejected: [] }
    })
  }

/** Stores used by the operators' commands. */
let stores: { readonly kv: Kv; readonly db: Database; readonly dir: string }

/** The pending points of a backup are restored. */
const restoring: Entrance = async (_replica, random, userId) => {
  const startMs = Date.now() - HOUR_MS
  const entries = Array.from({ length: countBy(random, MAX_POINTS) }, (_, i) =>
    pack(point({ sentMs: startMs + i, recordedMs: startMs + i, receivedMs: startMs })),
  )
  const path = join(stores.dir, `${userId}.jsonl.zst`)
  await writeArchive(path, (write) =>
    write(JSON.stringify({ waiting: [{ userId, entries, position: null }] })),
  )
  try {
    await restoreWaiting({ kv: stores.kv, config: readConfig({}) }, { path }, [])
    return { name: 'restore', userId, stored: entries.map(({ field }) => field), rejected: [] }
  } catch (error) {
    // The command fails, and is repeated.
    if (!isKvUnavailable(error)) throw error
    return { name: 'restore', userId, stored: [], rejected: [] }
  } finally {
    await rm(path)
  }
}

const ENTRANCES: readonly Entrance[] = [
  checkingIn,
  syncing,
  taking('Overland', MAX_POINTS, overland),
  taking('Traccar, a list', MAX_POINTS, traccar10Json),
  ...Object.entries(FORMS).map(([name, form]) => taking(name, 1, (fix) => form(fix))),
  restoring,
  restoring,
]
/** Batches get more cases than single positions. */
const WEIGHTED = [...ENTRANCES, ...ENTRANCES.slice(0, 4), ...ENTRANCES.slice(0, 4), ...ENTRANCES.slice(0, 4)]

describeOnServers(`every entrance, seed ${SEED}`, () => {
  let server: Server
  let proxy: TcpProxy
  let kv: Kv
  let direct: Kv
  let database: TestDatabase
  const openKv = (port: number) =>
    openRedisKv({ url: `redis://127.0.0.1:${port}`, partitions: 1, onError: () => undefined })

  beforeAll(async () => {
    server = await startRedis({ args: ['--appendfsync', 'everysec'] })
    proxy = await openTcpProxy(server.port)
    ;[kv, direct] = await Promise.all([openKv(proxy.port), openKv(server.port)])
    database = await openTestDatabase()
    stores = {
      kv,
      db: await openDatabase({ url: database.url, dir: '' }),
      dir: await newDirectory('every-entrance'),
    }
  })
  afterAll(async () => {
    await stores?.db.close()
    await database?.drop()
    await rm(stores?.dir ?? '', { recursive: true, force: true })
    await Promise.all([kv?.close(), direct?.close()])
    await proxy?.close()
    await server?.close()
  })

  /** Puts the connection into a state for the duration of the work. */
  async function during<T>(state: State, work: () => Promise<T>): Promise<T> {
    if (state === 'late') proxy.set({ kind: 'slow', toServerMs: 200, toClientMs: 200 })
    if (state === 'away') proxy.set({ kind: 'closed' })
    let isClosed = false
    const turning =
      state === 'coming and going'
        ? setInterval(() => {
            isClosed = !isClosed
            proxy.set({ kind: isClosed ? 'closed' : 'clear' })
          }, 150)
        : undefined
    try {
      return await work()
    } finally {
      clearInterval(turning)
      proxy.set({ kind: 'clear' })
    }
  }

  test.each(STATES)(
    'what was answered with success is stored, point by point, with the kv %s',
    async (state) => {
      const random = createRandom(SEED + STATES.indexOf(state))
      const cases = Math.ceil(CASES / STATES.length)
      let promised = 0
      for (let done = 0; done < cases; done += ROUND) {
        // In rounds, so that memory does not grow with the number of cases.
        const round = Math.min(cases - done, ROUND)
        await using replica = await startReplica(kv, { rules: RULES, journalMax: 1_000_000 })
        const answered: Promised[] = []
        let next = 0
        const worker = async () => {
          while (next < round) {
            const n = done + next++
            const entrance = WEIGHTED[Math.floor(random() * WEIGHTED.length)]!
            answered.push(await entrance(replica, random, `${STATES.indexOf(state)}-${n}`))
          }
        }
        await during(state, () => Promise.all(Array.from({ length: AT_ONCE }, worker)))
        await until(() => replica.journaled() === 0, 'the journal to be empty', { timeoutMs: SETTLED_MS })
        for (const { name, userId, stored, rejected } of answered) {
          const held = new Set((await direct.peek(userId)).map(({ field }) => field))
          const missing = stored.filter((field) => !held.has(field))
          const extra = rejected.filter((field) => held.has(field) && !stored.includes(field))
          expect({ name, userId, missing, extra }).toEqual({ name, userId, missing: [], extra: [] })
          promised += stored.length
        }
        await asked(server.url, (redis) => redis.flushall())
      }
      // Most requests succeed in every state, except when phones' tracks have to wait.
      expect(promised).toBeGreaterThan(cases)
    },
    600_000 + 20 * CASES,
  )
})
