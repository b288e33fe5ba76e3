/** Tracker apps: keys, and points in each app's format, up to the kilometres. */
import { describe, expect, test } from 'bun:test'
import { ledgerEndpoint } from '#shared/contracts/ledger.ts'
import { userEndpoint } from '#shared/contracts/user-detail.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { post, profileOf } from '#tests/helpers/pilgrim.ts'
import {
  admin,
  flushed,
  newAppId,
  newPilgrimId,
  readAs,
  syncTrack,
  type TestStack,
} from '#tests/helpers/test-stack.ts'
import { expectTaken, listed, newTracker, revoke, send, walk } from '#tests/helpers/trackers.ts'
import { until } from '#tests/helpers/wait.ts'
import {
  type Fix,
  FORMS,
  overland,
  overlandFeature,
  ownTracksIos,
  type Sent,
  traccar10,
} from '#tests/tracking/tracker-bodies.ts'
import { NO_POSITIONS, REFUSED } from '#tests/tracking/tracker-oddities.ts'

const detail = async (stack: TestStack, userId: string) => {
  const path = `/api/event/admin/users/${userId}`
  return dataOf(await stack.fetch(path, { headers: admin('manager') }), userEndpoint)
}

/** Stored positions of a pilgrim, in order of time. */
async function stored(stack: TestStack, userId: string): Promise<Record<string, unknown>[]> {
  const path = `/api/event/admin/users/${userId}/export`
  const answer = await stack.fetch(path, { headers: admin('owner') })
  const { gps_points: rows } = (await answer.json()) as { gps_points: Record<string, unknown>[] }
  return rows
}

const rejectedBy = async (stack: TestStack): Promise<Readonly<Record<string, number>>> => {
  const answer = await readAs(stack, 'owner', 'admin/ledger')
  return (await dataOf(answer, ledgerEndpoint)).rejected
}

const hourOf = (at: string | number): string => `${new Date(at).toISOString().slice(0, 13)}:00:00.000Z`

const sumOf = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0)

function keys(stack: TestStack): void {
  describe('a tracker', () => {
    test('is made with its apps’ links, listed without its key, and revoked', async () => {
      const userId = newAppId()
      const made = await newTracker(stack, userId, '  old phone ')
      const { key, apps, ...shown } = made
      expect(shown.label).toBe('old phone')
      expect(await listed(stack, userId)).toEqual([shown])
      const { last_used_at: unused, ...stored } = shown
      expect(unused).toBeNull()
      // The operator sees when it was created, the pilgrim only the hour.
      const [seen] = (await detail(stack, userId)).trackers
      expect({ ...seen, created_at: hourOf(seen!.created_at) }).toEqual(stored)
      for (const [app, { url, link, qr }] of Object.entries(apps)) {
        expect(url).toContain(`/api/event/ingest/${key}/${app}`)
        expect(qr).toStartWith('<svg')
        // The link does not contain the pilgrim's id: it may be seen on a screen, or sent to someone for
        // help.
        expect(`${url} ${link}`).not.toContain(userId)
      }
      expect(apps.osmand.link).toBeNull()
      const inline = decodeURIComponent(apps.owntracks.link!.split('inline=')[1]!)
      expect(JSON.parse(Buffer.from(inline, 'base64').toString())).toMatchObject({
        _type: 'configuration',
        mode: 3,
        url: apps.owntracks.url,
        monitoring: 2,
        locatorInterval: 30,
        locatorDisplacement: 20,
      })
      expect(new URL(apps.overland.link!).searchParams.get('url')).toBe(apps.overland.url)
      expect(Object.fromEntries(new URL(apps.traccar.link!).searchParams)).toMatchObject({
        url: apps.traccar.url,
        interval: '30',
        distance: '20',
        accuracy: 'high',
      })
      const profile = await stack.fetch(
        new URL(apps.gpslogger.link!.replace('gpslogger://properties/', '')).pathname,
      )
      expect(profile.headers.get('content-type')).toStartWith('text/plain')
      expect(await profile.text()).toContain(`log_customurl_url=${apps.gpslogger.url}\n`)

      // Neither the set-up of an app nor a message without a position counts as a position.
      expect((await stack.fetch(`/api/event/ingest/${key}/gpslogger.properties`)).status).toBe(200)
      await stack.fetch(`/api/event/ingest/${key}/traccar?id=x`)
      expect((await listed(stack, userId))[0]!.last_used_at).toBeNull()
      const [fix] = walk(1) as [Fix]
      await expectTaken(await send(stack, key, traccar10(fix)), { app: 'traccar' })
      await until(async () => (await listed(stack, userId))[0]!.last_used_at !== null, 'the time of use', {
        timeoutMs: 5_000,
      })
      const [used] = await listed(stack, userId)
      expect([hourOf(Date.now() - 60_000), hourOf(Date.now())]).toContain(used!.last_used_at!)
      expect((await revoke(stack, userId, made.id)).status).toBe(200)
      for (const form of Object.values(FORMS))
        await sentenceOf(await send(stack, key, form(fix)), 404, 'not-found')
      expect(await listed(stack, userId)).toEqual([])
      await sentenceOf(await revoke(stack, userId, made.id), 404, 'not-found')
    })

    test('of another pilgrim is neither listed nor revoked, and a pilgrim has ten at most', async () => {
      const [userId, other] = [newAppId(), newAppId()]
      const made = await Promise.all(
        Array.from({ length: 12 }, () => post(stack, 'trackers', { user_id: userId })),
      )
      expect(made.filter(({ status }) => status === 200)).toHaveLength(10)
      expect(made.filter(({ status }) => status === 409)).toHaveLength(2)
      const [first] = await listed(stack, userId)
      expect(await listed(stack, other)).toEqual([])
      await sentenceOf(await revoke(stack, other, first!.id), 404, 'not-found')
      await sentenceOf(await revoke(stack, userId, 'x'), 400, 'invalid-request')
      expect(await listed(stack, userId)).toHaveLength(10)
    })

    test('of an id that others may know is neither listed nor revoked by whoever knows it', async () => {
      const userId = newPilgrimId()
      const { id } = await newTracker(stack, userId)
      await sentenceOf(await stack.fetch(`/api/event/trackers?user_id=${userId}`), 403, 'forbidden')
      await sentenceOf(await revoke(stack, userId, id), 403, 'forbidden')
      expect((await detail(stack, userId)).trackers).toHaveLength(1)
    })

    test('ends with the consent, for every replica at once', async () => {
      const userId = newAppId()
      const { key } = await newTracker(stack, userId)
      const [fix] = walk(1) as [Fix]
      await expectTaken(await send(stack, key, traccar10(fix)), { app: 'traccar' })
      expect((await post(stack, 'privacy', { user_id: userId, agreed: false })).status).toBe(200)
      await sentenceOf(await send(stack, key, traccar10(fix)), 404, 'not-found')
      expect(await listed(stack, userId)).toEqual([])
    })

    test('that nobody has made is refused, whatever its form', async () => {
      const [fix] = walk(1) as [Fix]
      for (const key of ['x', '%00', 'A'.repeat(32), `${'A'.repeat(31)}%2e`])
        for (const sent of [ownTracksIos(fix), overland(fix)])
          await sentenceOf(await send(stack, key, sent), 404, 'not-found')
    })

    test('is erased with its pilgrim, and exported without the hash of its key', async () => {
      const userId = newPilgrimId()
      const { key, id } = await newTracker(stack, userId)
      const [fix] = walk(1) as [Fix]
      await expectTaken(await send(stack, key, ownTracksIos(fix)), { app: 'owntracks' })
      const path = `/api/event/admin/users/${userId}`
      const exported = await stack.fetch(`${path}/export`, { headers: admin('owner') })
      const { trackers } = (await exported.json()) as { trackers: object[] }
      expect(trackers).toEqual([{ id, user_id: userId, label: null, created_at: expect.any(String) }])
      const erased = await stack.fetch(path, { method: 'DELETE', headers: admin('owner') })
      expect(await erased.json()).toMatchObject({ data: { erased: { trackers: 1 }, remaining: [] } })
      await sentenceOf(await send(stack, key, ownTracksIos(fix)), 404, 'not-found')
      expect((await stack.fetch(`/api/event/user/${userId}`)).status).toBe(404)
    })
  })
}

function walks(stack: TestStack): void {
  test('the same walk by every app gives the same kilometres', async () => {
    const fixes = walk(30)
    const reference = newPilgrimId()
    const points = fixes.map(({ lat, lng, ms }) => ({ lat, lng, timestamp: ms }))
    expect((await syncTrack(stack, reference, points)).status).toBe(200)
    const people = await Promise.all(
      Object.entries(FORMS).map(async ([name, form]) => {
        const userId = newPilgrimId()
        const { key } = await newTracker(stack, userId)
        // Out of order, and each twice.
        for (const fix of [...fixes.toReversed(), ...fixes])
          await expectTaken(await send(stack, key, form(fix)), form(fix))
        return { name, userId }
      }),
    )
    await flushed(stack)
    const wanted = await profileOf(stack, reference, admin('volunteer'))
    expect(wanted.km).toBeGreaterThan(2)
    const placesOf = async (userId: string) =>
      (await stored(stack, userId)).map(({ lat, lng, sent_at }) => ({ lat, lng, sent_at }))
    const places = await placesOf(reference)
    for (const { name, userId } of people) {
      const { km, carbon_kg, checkins } = await profileOf(stack, userId, admin('volunteer'))
      expect({ name, km, carbon_kg, checkins }).toEqual({
        name,
        km: wanted.km,
        carbon_kg: wanted.carbon_kg,
        checkins: 0,
      })
      // The same places at the same instants: identical to the millimetre.
      expect(await placesOf(userId)).toEqual(places)
    }
    const [point] = await stored(stack, people[0]!.userId)
    expect(point).toMatchObject({ source: 'owntracks', kind: 't' })
  })

  test('what is no position, and what will never be taken, is a success, and the ledger counts the latter', async () => {
    const userId = newPilgrimId()
    const { key } = await newTracker(stack, userId)
    const [fix] = walk(1) as [Fix]
    for (const form of Object.values(NO_POSITIONS))
      await expectTaken(await send(stack, key, form(fix)), form(fix))
    await flushed(stack)
    const before = await rejectedBy(stack)
    for (const [, , form] of REFUSED) await expectTaken(await send(stack, key, form(fix)), form(fix))
    const counts = Map.groupBy(REFUSED, ([reason]) => reason)
    const wanted = Object.fromEntries([...counts].map(([reason, all]) => [reason, all.length]))
    const differences = async () => {
      const after = await rejectedBy(stack)
      return Object.fromEntries(
        [...counts.keys()].map((reason) => [reason, (after[reason] ?? 0) - (before[reason] ?? 0)]),
      )
    }
    // The processes write their counts every two seconds.
    await until(
      async () => sumOf(await differences()) >= REFUSED.length,
      'the ledger to count every refused point',
    )
    expect(await differences()).toEqual(wanted)
    expect((await detail(stack, userId)).stored_points).toBe(0)
  })

  test('a position of a query without a time counts at its receipt', async () => {
    const userId = newPilgrimId()
    const { key } = await newTracker(stack, userId)
    const [{ lat, lng }] = walk(1) as [Fix]
    const sent: Sent = { app: 'osmand', method: 'GET', query: `lat=${lat}&lon=${lng}` }
    await expectTaken(await send(stack, key, sent), sent)
    await flushed(stack)
    expect((await detail(stack, userId)).stored_points).toBe(1)
  })

  test('a batch is taken whole, beside visits and a faulty point; 1,000 and more points are one submission', async () => {
    const userId = newPilgrimId()
    const { key } = await newTracker(stack, userId)
    const [last] = walk(1) as [Fix]
    const fixes = Array.from({ length: 1_200 }, (_, i) => ({ ...last, ms: last.ms - i * 1_000 }))
    const slim = fixes.map((fix) => {
      const { geometry, properties } = overlandFeature(fix)
      return {
        type: 'Feature',
        geometry,
        properties: { timestamp: properties.timestamp, horizontal_accuracy: 6 },
      }
    })
    const body = JSON.stringify({ locations: [{ type: 'Feature', geometry: null, properties: {} }, ...slim] })
    const sent: Sent = { app: 'overland', method: 'POST', body }
    await expectTaken(await send(stack, key, sent), sent)
    await flushed(stack)
    expect((await detail(stack, userId)).stored_points).toBe(1_200)
  })
}

describeBothStacks(
  'tracker apps',
  (stack) => {
    keys(stack)
    walks(stack)
  },
  { EVENT_LIMIT_INGEST: '1000', EVENT_LIMIT_SYNC: '1000' },
)
