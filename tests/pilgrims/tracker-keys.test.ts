/** Tracker keys that are revoked while a store fails: an answer of failure leaves them as they were. */
import { expect, test } from 'bun:test'
import { recordConsent } from '#services/survey-profile/record-consent.ts'
import { createKeyFinder } from '#services/tracking/tracker-apps/find-key.ts'
import { createTracker, revokeTracker } from '#services/tracking/tracker-apps/manage-trackers.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { type Kv, KvUnavailable } from '#shared/stores/kv/kv.ts'
import { openTestDatabase } from '#tests/helpers/database.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { startRedis } from '#tests/helpers/servers.ts'
import { openServiceParts } from '#tests/helpers/service-parts.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { newAppId } from '#tests/helpers/test-stack.ts'
import Redis from 'ioredis'

/** A pilgrim with a tracker whose key is known to the kv. */
async function pilgrimWithTracker(context: ServiceContext) {
  const userId = newAppId()
  const { id, key } = await createTracker(context, { user_id: userId }, 'test')
  const find = createKeyFinder(context)
  expect(await find(key)).toBe(userId)
  return { userId, id, key, find }
}

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
