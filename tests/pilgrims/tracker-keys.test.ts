/** Tracker keys: their copies in each replica, and revocations, also while a store fails. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { recordConsent } from '#services/survey-profile/record-consent.ts'
import { TrackerKeys } from '#services/tracking/tracker-apps/find-key.ts'
import {
  createTracker,
  listTrackers,
  revokeTracker,
} from '#services/tracking/tracker-apps/manage-trackers.ts'
import { MAX_TRACKERS } from '#shared/contracts/trackers.ts'
import { CLAIM_QUOTA } from '#shared/service/security/claims.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { KNOWN_KEYS, readKnownKey, revokeKeys, trackerKeyHash } from '#shared/pilgrims/tracker-keys.ts'
import { type Kv, KvUnavailable } from '#shared/stores/kv/kv.ts'
import { trackers } from '#shared/stores/schema/tables.ts'
import { openTestDatabase } from '#tests/helpers/database.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { startRedis } from '#tests/helpers/servers.ts'
import { openServiceParts } from '#tests/helpers/service-parts.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { newAppId, newPilgrimId } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import Redis from 'ioredis'

/** A pilgrim with a tracker whose key is known to the kv. */
async function pilgrimWithTracker(context: ServiceContext) {
  const userId = newAppId()
  const { id, key } = await createTracker(context, { user_id: userId }, 'test')
  const keys = new TrackerKeys(context)
  const find = (given: string) => keys.find(given)
  expect(await find(key)).toBe(userId)
  return { userId, id, key, find }
}

const usedAt = async (context: ServiceContext, userId: string) =>
  (await listTrackers(context, userId)).items[0]!.last_used_at

/** The same kv, counting the entries that are read. */
function counting(kv: Kv) {
  const reads: string[] = []
  const cached: Kv['cached'] = (key) => {
    reads.push(key.split(':')[0]!)
    return kv.cached(key)
  }
  return { kv: { ...kv, cached }, reads }
}

describe('copies of keys in a replica', () => {
  let parts: Awaited<ReturnType<typeof openServiceParts>>
  let nowMs = Date.now()
  beforeAll(async () => {
    parts = await openServiceParts({}, { now: () => nowMs })
  })
  afterAll(async () => parts?.close())

  test('refused for too many trackers use up nothing of what an address may add for a claim', async () => {
    const context = parts.context()
    const userId = newPilgrimId()
    const make = () => createTracker(context, { user_id: userId }, 'stranger')
    await make()
    await context.db.sql`
      INSERT INTO trackers (id, user_id, key_hash, created_at)
      SELECT gen_random_uuid(), ${userId}, gen_random_uuid()::text, now() FROM generate_series(2, ${MAX_TRACKERS})`
    for (let i = 0; i < CLAIM_QUOTA.max; i++)
      expect(await rejection(make())).toMatchObject({ httpStatus: 409 })
    await context.db.sql`DELETE FROM trackers WHERE user_id = ${userId}`
    expect(await make()).toMatchObject({ label: null })
  })

  test('spare the kv and Postgres for a minute: requests of one turn share a read', async () => {
    const context = parts.context()
    const { userId, key } = await pilgrimWithTracker(context)
    const { kv, reads } = counting(context.kv)
    const replica = new TrackerKeys({ ...context, kv })
    const accepted = { isTaken: true, refused: null }
    expect(await replica.find(key)).toBe(userId)
    replica.noteUse(trackerKeyHash(key), accepted)
    await until(async () => (await usedAt(context, userId)) !== null, 'the use to be noted')
    expect(reads.filter((entry) => entry !== 'tracker-revocations')).toEqual(['tracker', 'tracker-revoked'])
    reads.length = 0
    const found = await Promise.all(Array.from({ length: 50 }, () => replica.find(key)))
    for (const _ of found) replica.noteUse(trackerKeyHash(key), accepted)
    expect(new Set(found)).toEqual(new Set([userId]))
    expect(reads).toEqual(['tracker-revocations'])
    // Only Postgres shows that a row was deleted by hand.
    await context.db.orm.delete(trackers).where(eq(trackers.userId, userId))
    expect(await replica.find(key)).toBe(userId)
    nowMs += 60_000
    expect(await replica.find(key)).toBeNull()
  })

  test('end with a revocation of any replica, and the keys of others stay valid', async () => {
    const context = parts.context()
    const [one, other] = [await pilgrimWithTracker(context), await pilgrimWithTracker(context)]
    const replicas = [new TrackerKeys(context), new TrackerKeys(context)]
    for (const replica of replicas) for (const { key } of [one, other]) await replica.find(key)
    await revokeTracker(context, one.userId, one.id)
    for (const replica of replicas) {
      expect(await replica.find(one.key)).toBeNull()
      expect(await replica.find(other.key)).toBe(other.userId)
    }
    const withdrawal = { user_id: other.userId, agreed: false }
    await recordConsent(context, withdrawal)
    for (const replica of replicas) expect(await replica.find(other.key)).toBeNull()
  })

  test('leave no entry in the kv when the key is revoked while one is stored', async () => {
    const context = parts.context()
    const { userId, key } = await pilgrimWithTracker(context)
    const hash = trackerKeyHash(key)
    await context.kv.forget(`${KNOWN_KEYS}${hash}`)
    const cache: Kv['cache'] = async (...entry) => {
      if (entry[0].startsWith(KNOWN_KEYS)) await revokeKeys(context.kv, [hash])
      await context.kv.cache(...entry)
    }
    expect(await new TrackerKeys({ ...context, kv: { ...context.kv, cache } }).find(key)).toBe(userId)
    expect(await context.kv.cached(`${KNOWN_KEYS}${hash}`)).toBeNull()
  })

  test('of before an outage of the kv are not used, whatever the clock of the replica that noted the key', async () => {
    const context = parts.context()
    const { userId, key } = await pilgrimWithTracker({ ...context, now: () => nowMs + 30_000 })
    let reconnect = () => undefined as void
    let elapsedMs = 0
    const kv: Kv = { ...context.kv, onReconnect: (listener) => void (reconnect = listener) }
    const stopwatch = () => {
      const startedMs = elapsedMs
      return () => elapsedMs - startedMs
    }
    const replica = new TrackerKeys({ ...context, kv, stopwatch })
    expect(await replica.find(key)).toBe(userId)
    elapsedMs += 1_000
    reconnect()
    elapsedMs += 50_000
    nowMs += 51_000
    // The kv has lost the revocation.
    await context.db.orm.delete(trackers).where(eq(trackers.userId, userId))
    expect(await replica.find(key)).toBeNull()
  })

  test('lose no note of a fast clock, also for an app that sends once a minute', async () => {
    const context = parts.context()
    const { key } = await pilgrimWithTracker(context)
    const hash = trackerKeyHash(key)
    const replica = new TrackerKeys(context)
    const clocks: (number | null)[] = []
    for (let i = 0; i < 3; i++) {
      nowMs += 61_000
      await replica.find(key)
      clocks.push(await replica.noteAhead(hash, { byMs: 600_000, sentMs: nowMs + 600_000 }))
      replica.noteUse(hash, { isTaken: true, refused: null })
      const noted = async () => {
        const known = await readKnownKey(context.kv, hash)
        return known !== 'revoked' && known?.usedMs === nowMs
      }
      await until(noted, 'the use to be noted')
    }
    expect(clocks).toEqual([null, 600_000, 600_000])
  })

  test('are bounded in number', async () => {
    const context = parts.context()
    const replica = new TrackerKeys(context, 2)
    const made = [await pilgrimWithTracker(context), await pilgrimWithTracker(context)]
    made.push(await pilgrimWithTracker(context))
    for (const { key, userId } of made) expect(await replica.find(key)).toBe(userId)
    expect(replica.copies).toBe(2)
  })
})

test('a consent that cannot be taken back leaves the key as it was; one that is taken back ends it', async () => {
  const parts = await openServiceParts()
  try {
    const context = parts.context()
    const { userId, key, find } = await pilgrimWithTracker(context)
    const refusal = { user_id: userId, agreed: false }
    const hide: Kv['hide'] = () => Promise.reject(new KvUnavailable('late'))
    const late = { ...context, kv: { ...context.kv, hide } }
    expect(await rejection(recordConsent(late, refusal))).toBeInstanceOf(KvUnavailable)
    for (let i = 0; i < 2; i++) expect(await find(key)).toBe(userId)
    await recordConsent(context, refusal)
    expect(await find(key)).toBeNull()
  } finally {
    await parts.close()
  }
})

describeOnServers('with a full Redis', () => {
  test('a consent is taken back, and a tracker is revoked', async () => {
    await using server = await startRedis()
    const database = await openTestDatabase()
    const parts = await openServiceParts({ DATABASE_URL: database.url, REDIS_URL: server.url })
    const redis = new Redis(server.url)
    try {
      const context = parts.context()
      const [one, other] = [await pilgrimWithTracker(context), await pilgrimWithTracker(context)]
      await redis.config('SET', 'maxmemory', '1mb')
      expect(await rejection(redis.set('x', '1'))).toMatchObject({ message: expect.stringContaining('OOM') })
      await recordConsent(context, { user_id: one.userId, agreed: false })
      await revokeTracker(context, other.userId, other.id)
      for (const { find, key } of [one, other]) expect(await find(key)).toBeNull()
    } finally {
      redis.disconnect()
      await parts.close()
      await database.drop()
    }
  })
})
