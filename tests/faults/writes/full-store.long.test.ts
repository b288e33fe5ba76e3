/**
 * Everything that deletes or revokes works while Redis is over its memory limit, from a tracker app and
 * otherwise.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rejection } from '#tests/helpers/rejection.ts'
import { type Server, startRedis } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { differences, type EveryWrite, openEveryWrite, WRITES } from './every-write.ts'

/**
 * A body that takes something away, preceded by one that creates it if the examples' rows have nothing to
 * take away.
 */
interface Deed {
  readonly takes: object
  readonly gives?: object
}

/** Every write that takes something away. If it can also give, with the body that takes away. */
const DEEDS: Readonly<Record<string, Deed>> = {
  setPrivacy: { takes: { agreed: false } },
  setParticipantStatus: { takes: { status: 'withdrawn' } },
  setUserStatus: { takes: { status: 'withdrawn' } },
  setPhone: { takes: { phone: null } },
  setStatus: { takes: { status: 'paused' } },
  endActivity: { takes: {} },
  setPalanquin: { gives: { palanquin: true }, takes: { palanquin: false } },
  assignRole: { gives: { role: 'volunteer' }, takes: { role: null } },
  changeShare: { gives: { live_hours: 2 }, takes: { live_hours: null } },
  setNotifications: { takes: { slots: [] } },
  updateFeedback: { takes: { hidden: true, reason: 'insult' } },
  eraseOwnData: { takes: {} },
  eraseUser: { takes: {} },
  revokeTracker: { takes: {} },
  revokeTrackerOfUser: { takes: {} },
  revokeShare: { takes: {} },
  revokeSharesOfUser: { takes: {} },
  revokeToken: { takes: {} },
  unsubscribeFromPush: { takes: {} },
  dropDeadLetter: { takes: {} },
}

/** Every write that takes nothing away. */
const ADD: readonly string[] = [
  'checkIn',
  'syncTrack',
  'createTracker',
  'ingestGpslogger',
  'ingestGpsloggerQuery',
  'ingestOsmand',
  'ingestOsmandPosted',
  'ingestOverland',
  'ingestOverlandQuery',
  'ingestOwntracks',
  'ingestOwntracksQuery',
  'ingestTraccar',
  'ingestTraccarQuery',
  'confirmEmergency',
  'raiseEmergency',
  'submitSurvey',
  'submitSurveyAlias',
  'syncProfile',
  'submitFeedback',
  'uploadScreenshot',
  'drawCard',
  'createShare',
  'viewShare',
  'makeToken',
  'exportOwnData',
  'readOwnWalk',
  'setEventContact',
  'setEventLanguages',
  'setEventMessages',
  'setEventName',
  'setEventNotice',
  'setEventRoute',
  'setEventSurvey',
  'setEventWords',
  'setTranslation',
  'setRehearsal',
  'resetRehearsal',
  'forceFlush',
  'requeueDeadLetter',
  'deployMenus',
  'receiveWebhook',
  'sendPush',
  'subscribeToPush',
]

test('every write is in one of both lists', () => {
  expect([...Object.keys(DEEDS), ...ADD].sort()).toEqual(WRITES.map(({ id }) => id).sort())
})

describeOnServers('with Redis over its limit', () => {
  let redis: Server
  let all: EveryWrite
  beforeAll(async () => {
    redis = await startRedis()
    all = await openEveryWrite(redis)
  })
  afterAll(async () => {
    await all?.close()
    await redis?.close()
  })

  describe.each([true, false])('with a tracker app: %p', (hasTracker) => {
    const deeds = WRITES.filter(({ id }) => Object.hasOwn(DEEDS, id)).map((one) => [one.id, one] as const)
    test.each(deeds)('%s', async (id, endpoint) => {
      const { takes, gives } = DEEDS[id]!
      if (!hasTracker && id.startsWith('revokeTracker')) return
      const prepare = async (): Promise<void> => {
        await all.redis.config('SET', 'maxmemory', '0')
        await all.reset(endpoint)
        if (!hasTracker) await all.parts.ports.db.sql`DELETE FROM trackers`
        if (gives !== undefined) await all.watch(endpoint, gives)
      }
      await prepare()
      const [before, after] = await all.watch(endpoint, takes)
      expect(differences(before, after)).not.toEqual([])
      await prepare()
      await all.redis.config('SET', 'maxmemory', '500kb')
      expect(await rejection(all.redis.set('full', '1'))).toHaveProperty(
        'message',
        expect.stringContaining('OOM'),
      )
      const [, whenFull] = await all.watch(endpoint, takes)
      expect(differences(after, whenFull)).toEqual([])
    })
  })
})
