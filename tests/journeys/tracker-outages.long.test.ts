/** Tracker apps while a store is down, and while their pilgrim is erased: on two replicas behind Caddy. */
import { until } from '#tests/helpers/wait.ts'
import { readKnownKey, trackerKeyHash } from '#shared/pilgrims/tracker-keys.ts'
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TrackerKeys } from '#services/tracking/tracker-apps/find-key.ts'
import { ServiceName } from '#shared/contracts/endpoint.ts'
import { userEndpoint } from '#shared/contracts/user-detail.ts'
import { stopwatch } from '#shared/runtime/clock.ts'
import { createLog } from '#shared/runtime/log.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { openRedisKv } from '#shared/stores/kv/kv.redis.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import type { Server } from '#tests/helpers/process.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { type OwnedTestStack, openOwnedTestStack, recovered } from '#tests/helpers/test-stack-real.ts'
import { admin, flushed, newAppId } from '#tests/helpers/test-stack.ts'
import { expectTaken, newTracker, revoke, send, walk } from '#tests/helpers/trackers.ts'
import { gpsLogger, overland, ownTracksIos, traccar10 } from '#tests/tracking/tracker-bodies.ts'

const ROUNDS = 4
const NOBODYS = 'A'.repeat(32)

describeOnServers('tracker apps', () => {
  let stack: OwnedTestStack
  const keys: string[] = []
  beforeAll(async () => {
    stack = await openOwnedTestStack({ settings: { EVENT_LIMIT_INGEST: '1000' } })
  })
  afterEach(async () => {
    // The failure of one test must not make the next ones fail.
    for (const store of [stack.postgres, stack.redis]) await store.restart()
    await recovered(stack)
  })
  afterAll(async () => stack?.close())

  const pilgrim = async () => {
    const userId = newAppId()
    const made = await newTracker(stack, userId)
    keys.push(made.key)
    return { userId, ...made }
  }
  const storedPoints = async (userId: string): Promise<number> => {
    const path = `/api/event/admin/users/${userId}`
    const shown = await dataOf(await stack.fetch(path, { headers: admin('manager') }), userEndpoint)
    return shown.stored_points
  }

  test('with Redis down, points go to the journal, and nothing is revoked that a replica might go on to accept', async () => {
    const [first, ...fixes] = walk(9)
    const { userId, id, key } = await pilgrim()
    await expectTaken(await send(stack, key, overland(first!)), { app: 'overland' })
    await stack.redis.stop()
    for (const [i, fix] of fixes.entries()) {
      const sent = [ownTracksIos, traccar10, gpsLogger][i % 3]!(fix)
      await expectTaken(await send(stack, key, sent), sent)
    }
    await sentenceOf(await send(stack, NOBODYS, overland(first!)), 404, 'not-found')
    await sentenceOf(await revoke(stack, userId, id), 503, 'unavailable')
    await stack.redis.restart()
    await recovered(stack)
    // An app that missed the responses sends everything again.
    const again = overland(first!, ...fixes)
    await expectTaken(await send(stack, key, again), again)
    await flushed(stack)
    expect(await storedPoints(userId)).toBe(9)
    expect((await revoke(stack, userId, id)).status).toBe(200)
    for (let i = 0; i < 4; i++) await sentenceOf(await send(stack, key, overland(first!)), 404, 'not-found')
  })

  test('with Postgres down, a known key goes on, for days if need be, and an unknown one is told to come back', async () => {
    const [fix, later] = walk(2)
    const { userId, key } = await pilgrim()
    const db = await openDatabase({ url: stack.databaseUrl, dir: '' })
    const kv = await openRedisKv({ url: stack.redisUrl, partitions: 1, onError: () => undefined })
    try {
      // A replica that has not reconnected to Redis after the previous outage accepts the points without
      // storing the key.
      const isKnown = async () => {
        await expectTaken(await send(stack, key, overland(fix!)), { app: 'overland' })
        return (await readKnownKey(kv, trackerKeyHash(key))) !== null
      }
      await until(isKnown, 'the key to be known')
      await stack.postgres.stop()
      await expectTaken(await send(stack, key, traccar10(later!)), { app: 'traccar' })
      await sentenceOf(await send(stack, NOBODYS, overland(fix!)), 503, 'unavailable')
      // Two days later Postgres is asked again; that it is down changes nothing.
      const now = () => Date.now() + 2 * 86_400_000
      const replica = new TrackerKeys({ db, kv, log: createLog({}, () => undefined), now, stopwatch })
      expect(await replica.find(key)).toBe(userId)
      expect(await rejection(replica.find(NOBODYS))).toMatchObject({ httpStatus: 503 })
    } finally {
      await Promise.all([kv.close(), db.close()])
    }
    await stack.postgres.restart()
    await recovered(stack)
    await flushed(stack)
    expect(await storedPoints(userId)).toBe(2)
  })

  test('an erased pilgrim does not come back by an app that goes on sending', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { userId, key } = await pilgrim()
      let isOver = false
      const statuses = new Set<number>()
      const app = async (offset: number) => {
        for (let i = 0; !isOver; i++) {
          const [fix] = walk(1)
          const sent = overland({ ...fix!, ms: fix!.ms - 1_000 * (8 * i + offset) })
          statuses.add((await send(stack, key, sent)).status)
        }
      }
      const sending = Promise.all(Array.from({ length: 4 }, (_, i) => app(i)))
      await Bun.sleep(40 * round)
      const path = `/api/event/admin/users/${userId}`
      const erased = await stack.fetch(path, { method: 'DELETE', headers: admin('owner') })
      expect(erased.status).toBe(200)
      for (let i = 0; i < 4; i++)
        await sentenceOf(await send(stack, key, overland(...walk(1))), 404, 'not-found')
      isOver = true
      await sending
      expect([...statuses].filter((status) => status !== 200 && status !== 404)).toEqual([])
      await flushed(stack)
      expect((await stack.fetch(`/api/event/user/${userId}`)).status).toBe(404)
    }
  })

  test('no log of any process has a key, and that of Caddy the fixed beginning of the path alone', () => {
    const processes: Server[] = [
      ...ServiceName.options.map((name) => stack.service(name)),
      stack.service('tracking', 1),
      stack.postgres,
      stack.redis,
      stack.nats,
      stack.caddy,
    ]
    const logs = processes.map(({ dir }) => readFileSync(join(dir, 'server.log'), 'utf8')).join('\n')
    expect(keys.length).toBeGreaterThan(ROUNDS)
    expect(keys.filter((key) => logs.includes(key))).toEqual([])
    const ofCaddy = readFileSync(join(stack.caddy.dir, 'server.log'), 'utf8')
    expect(ofCaddy).not.toContain('/overland')
  })
})
