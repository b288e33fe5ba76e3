/**
 * The public map: one snapshot for all replicas, deltas, encodings, and its content while a store is down.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { FollowersMap } from '#services/tracking/map/map-snapshots.ts'
import { encodingOf } from '#shared/service/http/prepared-response.ts'
import { LivePositions } from '#services/tracking/map/latest-positions.ts'
import { Palanquin } from '#services/tracking/map/palanquin.ts'
import { PublicMap } from '#services/tracking/map/public-map.ts'
import { EventMap, EventMapDelta } from '#shared/contracts/map.ts'
import { type Database, DatabaseTimeout } from '#shared/stores/db/db.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { KvUnavailable, type Kv } from '#shared/stores/kv/kv.ts'
import { openEmbeddedKv } from '#shared/stores/kv/kv.embedded.ts'
import { openTestDatabase, type TestDatabase } from '#tests/helpers/database.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { admit, onError, restore, sync } from '#tests/kv/drivers.ts'
import { applied, config, event, log, route, sorted } from './map-snapshots-harness.ts'

const MINUTE = 60_000
const CROWD = 5
const START = Date.parse('2026-04-12T04:10:00Z')
const URL_OF_MAP = 'http://event.test/api/event/map'
describeOnServers('the map of followers', () => {
  let database: TestDatabase
  let db: Database
  let kv: Kv
  let nowMs: number
  let dir: string
  let path: string
  const now = () => nowMs
  beforeAll(async () => {
    database = await openTestDatabase()
    db = await openDatabase({ url: database.url, dir: '' })
    dir = await newDirectory('followers')
  })
  afterAll(async () => {
    await db?.close()
    await database?.drop()
  })
  beforeEach(async () => {
    nowMs = START
    path = join(dir, crypto.randomUUID())
    kv = await openEmbeddedKv({ path, onError, now })
    await kv.setStatus({ status: 'active', version: 1, message: null })
  })
  afterEach(() => kv?.close())

  function replica(given: { kv?: Kv; db?: Database; now?: () => number } = {}) {
    const parts = { config, db, event, kv, now, log, ...given }
    const live = new LivePositions(parts.kv, parts.now, log)
    const crowds = new PublicMap(live, CROWD, parts.now)
    const palanquin = new Palanquin(parts)
    const map = new FollowersMap(parts, crowds, palanquin)
    const asked = (since?: number, headers: Record<string, string> = {}) =>
      map.answer(new Request(URL_OF_MAP, { headers }), since)
    const whole = async () => EventMap.parse(((await asked().json()) as { data: unknown }).data)
    const delta = async (since: number) =>
      EventMapDelta.parse(((await asked(since).json()) as { data: unknown }).data)
    const refresh = async () => {
      await live.refresh()
      await map.refresh()
    }
    /** A device reports its position: a phone, or a tracker by the hash of its key. */
    const report = async (userId: string, keyHash: string | null, atM: number) => {
      const submission = sync(userId, [], { position: { t: nowMs, ...route.at(atM) } })
      await palanquin.following((sent) => admit(kv, sent), keyHash)(submission)
    }
    return { refresh, asked, whole, delta, crowds, report }
  }
  /** Bytes of all files of the embedded kv. */
  const filesOfKv = (): string =>
    readdirSync(dir)
      .filter((name) => join(dir, name).startsWith(path))
      .map((name) => readFileSync(join(dir, name), 'latin1'))
      .join('')
  /** A crowd spread between two places along the route. */
  async function standing(count: number, fromM: number, toM: number, t = nowMs): Promise<void> {
    for (let i = 0; i < count; i++) {
      const place = route.at(fromM + ((toM - fromM) * i) / count)
      await restore(kv, sync(`p${i}`, [], { position: { t, ...place } }))
    }
  }

  test('tells the crowd by cells, its front, middle and tail along the route, and the nearest stations', async () => {
    const one = replica()
    await standing(100, 2_000, 7_000)
    await one.refresh()
    const map = await one.whole()
    expect(map).toMatchObject({ since: null, status: 'active', stale: [], totals: null })
    expect(map.on_map).toBeWithin(80, 101)
    expect(map.event).toMatchObject({ name: 'Walk', crowd: 5, starts_at: null })
    expect(map.cells.reduce((sum, cell) => sum + cell[3], 0)).toBeWithin(80, 101)
    for (const [, , zoom, pilgrims] of map.cells) {
      expect(zoom).toBeLessThanOrEqual(14)
      expect(pilgrims).toBeGreaterThanOrEqual(5)
    }
    expect(map.front!.route_km).toBeWithin(6.3, 7)
    expect(map.middle!.route_km).toBeWithin(4.2, 4.8)
    expect(map.tail!.route_km).toBeWithin(2, 2.6)
    expect([map.tail!.station, map.front!.station]).toEqual([0, 1])
    expect(map.speed_kmh).toBeNull()
  })

  test('shows nobody below the crowd, and front and tail are places of crowds, never of one pilgrim', async () => {
    const one = replica()
    await standing(4, 100, 110)
    await one.refresh()
    expect(await one.whole()).toMatchObject({ on_map: 0, cells: [], front: null, middle: null, tail: null })
    await standing(60, 2_000, 2_010)
    // One pilgrim far ahead of all others.
    await restore(kv, sync('fast', [], { position: { t: nowMs, ...route.at(15_000) } }))
    nowMs += 10_000
    await one.refresh()
    const map = await one.whole()
    expect(map.on_map).toBe(60)
    expect(map.front!.route_km).toBeWithin(1.9, 2.1)
  })

  test('tells nothing that the crowds of the live map do not tell', async () => {
    const one = replica()
    await standing(300, 2_000, 9_000)
    await one.refresh()
    const map = await one.whole()
    const points = await one.crowds.read({ limit: 5_000 })
    expect(map.on_map).toBe(points.length)
    for (const [latE5, lngE5, zoom, pilgrims] of map.cells) {
      const half = 0.1 / 2 ** (zoom - 6) + 1e-5
      const inside = points.filter(
        ({ lat, lng }) => Math.abs(lat - latE5 / 1e5) <= half && Math.abs(lng - lngE5 / 1e5) <= half,
      )
      expect(pilgrims).toBeGreaterThanOrEqual(CROWD)
      expect(inside.length).toBeGreaterThanOrEqual(pilgrims)
    }
    const kilometres = points.map((place) => route.project(place).alongM / 1_000)
    for (const end of [map.front, map.middle, map.tail])
      expect(Math.min(...kilometres.map((km) => Math.abs(km - end!.route_km!)))).toBeLessThan(0.02)
  })

  test('two replicas have one snapshot, and a delta since any of its versions leads to it', async () => {
    const [one, other] = [replica(), replica()]
    await standing(60, 2_000, 6_000)
    await Promise.all([one.refresh(), other.refresh()])
    expect(await one.whole()).toEqual(await other.whole())
    const first = await one.whole()
    for (let round = 1; round <= 3; round++) {
      nowMs += 10_000
      await standing(60, 2_000 + 500 * round, 6_000 + 900 * round)
      await Promise.all([other.refresh(), one.refresh()])
    }
    const last = await one.whole()
    const delta = await other.delta(first.version)
    expect(delta.since).toBe(first.version)
    expect(delta).not.toHaveProperty('event')
    expect(sorted(applied(first, delta))).toEqual(sorted(last))
    const bytes = async (answer: Response) => (await answer.arrayBuffer()).byteLength
    expect(await bytes(one.asked(first.version))).toBeLessThan(await bytes(one.asked()))
    expect(await one.delta(last.version)).toEqual({
      since: last.version,
      version: last.version,
      as_of: last.as_of,
    })
    // An unknown version gets the full map.
    for (const unknown of [1, last.version + 1])
      expect(await one.asked(unknown).json()).toEqual(await one.asked().json())
  })

  test('goes on when clocks are set back, and shows no older crowd of a replica that is ahead', async () => {
    const one = replica()
    await standing(60, 2_000, 6_000)
    await one.refresh()
    nowMs -= 10 * MINUTE
    await standing(90, 2_000, 6_000, START)
    await one.refresh()
    expect(await one.whole()).toMatchObject({ stale: [], as_of: new Date(nowMs).toISOString() })
    expect((await one.whole()).on_map).toBeGreaterThan(60)
    await replica({ now: () => nowMs + 30_000 }).refresh()
    await standing(120, 2_000, 6_000, START)
    nowMs += 30_000
    await one.refresh()
    expect((await one.whole()).on_map).toBeGreaterThan(90)
  })

  test('is compressed, tagged and cacheable; a matching request gets 304', async () => {
    const one = replica()
    await one.refresh()
    const text = await one.asked().text()
    const decoders = {
      gzip: (bytes: Uint8Array<ArrayBuffer>) => Bun.gunzipSync(bytes),
      br: (bytes: Uint8Array<ArrayBuffer>) => brotliDecompressSync(bytes),
      zstd: (bytes: Uint8Array<ArrayBuffer>) => Bun.zstdDecompressSync(bytes),
    }
    const tags = new Set<string>()
    for (const [encoding, decoded] of Object.entries(decoders)) {
      const headers = { 'Accept-Encoding': encoding }
      const answer = one.asked(undefined, headers)
      expect(answer.headers.get('content-encoding')).toBe(encoding)
      expect(answer.headers.get('vary')).toBe('Accept-Encoding')
      expect(answer.headers.get('cache-control')).toBe('public, max-age=10, stale-while-revalidate=60')
      expect(new TextDecoder().decode(decoded(await answer.bytes()))).toBe(text)
      const tag = answer.headers.get('etag')!
      tags.add(tag)
      const again = one.asked(undefined, { ...headers, 'If-None-Match': tag })
      expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, tag, ''])
    }
    expect(tags.size).toBe(3)
    expect(encodingOf('gzip, deflate, br, zstd')).toBe('br')
    expect(encodingOf('br;q=0, GZIP;q=0.5')).toBe('gzip')
    expect(encodingOf('deflate')).toBe('identity')
  })

  test('knows the speed of the middle after a quarter of an hour, and estimates the next stations', async () => {
    const one = replica()
    // 3.6 km/h for forty minutes: the middle moves from 3.4 to 5.8 km.
    for (let minute = 0; minute <= 40; minute += 2) {
      await standing(20, 3_300 + 60 * minute, 3_500 + 60 * minute)
      await one.refresh()
      if (minute === 10) expect(await one.whole()).toMatchObject({ speed_kmh: null, estimates: [] })
      nowMs += 2 * MINUTE
    }
    const map = await one.whole()
    expect(map.speed_kmh).toBeWithin(3.4, 3.81)
    const [next] = map.estimates
    expect(next!.station).toBe(1)
    const minutes = (at: string) => (Date.parse(at) - Date.parse(map.as_of)) / MINUTE
    expect(minutes(next!.middle_at)).toBeWithin(1, 6)
    expect(minutes(next!.front_at!)).toBeLessThanOrEqual(minutes(next!.middle_at))
    await kv.setStatus({ status: 'paused', version: 2, message: 'Rain' })
    await standing(40, 5_000, 6_000)
    await one.refresh()
    expect(await one.whole()).toMatchObject({ status: 'paused', message: 'Rain', estimates: [] })
  })

  test('a palanquin that reports nothing for ten minutes leads no times: the crowd does, at its own pace', async () => {
    const one = replica()
    const palanquin = 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye'
    await db.sql`INSERT INTO pilgrims (user_id, palanquin, created_at, updated_at) VALUES (${palanquin}, true, now(), now())`
    await one.refresh()
    /** Crowd and palanquin walk at 3.6 km/h, the palanquin 500 m ahead; station M is at 6 km. */
    const walkTo = async (minute: number, isSeen: boolean) => {
      await standing(20, 2_000 + 60 * minute, 2_200 + 60 * minute)
      if (isSeen) await one.report(palanquin, null, 2_600 + 60 * minute)
      await one.refresh()
      const { estimates, palanquin: shown, speed_kmh, middle } = await one.whole()
      const at = estimates.find(({ station }) => station === 1)
      const minutes = at === undefined ? null : (Date.parse(at.middle_at) - nowMs) / MINUTE
      nowMs += 2 * MINUTE
      return { minutes, by: at?.by, kmOfPalanquin: shown?.route_km, speed_kmh, kmOfMiddle: middle?.route_km }
    }
    let minute = 0
    for (; minute < 30; minute += 2) await walkTo(minute, true)
    // 26 minutes before the palanquin arrives, 32 before the middle of the crowd does.
    expect((await walkTo(minute, true)).minutes).toBeWithin(21, 31)
    for (minute += 2; minute <= 40; minute += 2) {
      // For ten minutes the last position counts as current.
      expect((await walkTo(minute, false)).kmOfPalanquin).toBeCloseTo(4.4, 1)
    }
    const silent = await walkTo(minute, false)
    // The crowd is at 4.6 km, and 22 minutes away at its own pace, which is known at once.
    expect(silent).toMatchObject({ by: 'speed', kmOfPalanquin: 4.39 })
    expect(silent.speed_kmh).toBeWithin(3.2, 4)
    expect(silent.minutes).toBeWithin(17, 28)
    for (minute += 2; minute < 58; minute += 2) await walkTo(minute, false)
    expect((await walkTo(minute, false)).minutes).toBeWithin(0, 10)
    // It leads again once it reports.
    minute += 2
    const back = await walkTo(minute, true)
    expect(back.kmOfPalanquin).toBeCloseTo(2.6 + 0.06 * minute, 1)
    await db.sql`DELETE FROM pilgrims WHERE user_id = ${palanquin}`
  })

  test('a palanquin that loses its name is in no copy any more, before the next version', async () => {
    const [one, other] = [replica(), replica()]
    const palanquin = 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye'
    const name = () =>
      db.sql`INSERT INTO pilgrims (user_id, palanquin, created_at, updated_at) VALUES (${palanquin}, true, now(), now())`
    const takeBack: Record<string, () => Promise<unknown>> = {
      'un-named': () => db.sql`UPDATE pilgrims SET palanquin = false`,
      hidden: () => db.sql`UPDATE pilgrims SET participant_status = 'withdrawn'`,
      erased: () => db.sql`DELETE FROM pilgrims`,
    }
    for (const [how, take] of Object.entries(takeBack)) {
      nowMs += 10_000
      await name()
      await one.refresh()
      await one.report(palanquin, null, 2_000)
      nowMs += 10_000
      for (const each of [one, other]) await each.refresh()
      const before = await one.whole()
      expect({ how, km: before.palanquin?.route_km }).toEqual({ how, km: 2 })
      const cached = await kv.cached(`event-map-5/${before.version}`)
      expect(cached).toContain('palanquin')
      expect(cached).not.toContain(palanquin)
      // The files hold JSON within JSON.
      const shown = JSON.stringify(before.palanquin).replaceAll('"', String.raw`\"`)
      const inFiles = () => [palanquin, shown].map((text) => filesOfKv().includes(text))
      expect({ how, inFiles: inFiles() }).toEqual({ how, inFiles: [true, true] })
      await take()
      for (const each of [one, other]) {
        await each.refresh()
        expect(await each.whole()).toEqual({ ...before, palanquin: null })
        // A page that already has this version learns it too.
        expect(await each.delta(before.version)).toMatchObject({ version: before.version, palanquin: null })
      }
      // So does a replica that starts now, or whose next snapshot builds on this one.
      expect(JSON.parse((await kv.cached('event-map-5'))!)).toMatchObject({ map: { palanquin: null } })
      expect(await kv.cached('palanquin')).toBeNull()
      nowMs += 10_000
      await one.refresh()
      expect(await one.delta(before.version)).toMatchObject({ palanquin: null })
      await db.sql`DELETE FROM pilgrims`
      // An erasure rewrites the files.
      if (how !== 'erased') continue
      await kv.erase(palanquin, { generation: 1, erasedMs: nowMs, stands: true })
      expect(inFiles()).toEqual([false, false])
    }
  })

  test('a place that comes while that of a former device is forgotten, or after it was moved once more, stays', async () => {
    const [former, next] = ['w-5hk3q7d2m9x0c4v8b1n6r2t7ye', 'w-6hk3q7d2m9x0c4v8b1n6r2t7ye']
    const name = async (userId: string) => {
      await db.sql`DELETE FROM pilgrims`
      await db.sql`INSERT INTO pilgrims (user_id, palanquin, created_at, updated_at) VALUES (${userId}, true, now(), now())`
    }
    /** Action of another replica before the next write of a cache entry. */
    let meanwhile: (() => Promise<void>) | null = null
    const held = new Proxy(kv, {
      get: (target, verb: keyof Kv) =>
        ['cache', 'forget', 'exchange'].includes(verb)
          ? async (...given: unknown[]) => {
              const before = given[0] === 'palanquin' ? meanwhile : null
              if (before !== null) meanwhile = null
              await before?.()
              return (target[verb] as (...all: unknown[]) => unknown)(...given)
            }
          : target[verb],
    })
    const [slow, quick] = [replica({ kv: held }), replica()]
    const kmOnMap = async () => {
      nowMs += 10_000
      await quick.refresh()
      return Math.round((await quick.whole()).palanquin?.route_km ?? 0)
    }
    await name(former)
    for (const each of [slow, quick]) await each.refresh()
    await quick.report(former, null, 1_000)
    await name(next)
    // The slow replica removes the former device's position.
    meanwhile = async () => {
      await quick.refresh()
      await quick.report(next, null, 2_000)
    }
    await slow.refresh()
    await until(async () => (await kmOnMap()) === 2, 'the place of the device that is named')

    await name(former)
    for (const each of [quick, slow]) await each.refresh()
    await name(next)
    await quick.refresh()
    await quick.report(next, null, 3_000)
    await until(async () => (await kmOnMap()) === 3, 'its next place')
    // The slow replica still follows the former device.
    await slow.report(former, null, 4_000)
    await Bun.sleep(50)
    expect(await kmOnMap()).toBe(3)

    // Of two concurrent positions the later one wins.
    await slow.refresh()
    meanwhile = async () => {
      nowMs += 1_000
      await quick.report(next, null, 6_000)
      await until(async () => (await kv.cached('palanquin'))?.includes(String(nowMs)) === true, 'it')
    }
    await slow.report(next, null, 5_000)
    await until(() => meanwhile === null, 'the earlier place')
    await Bun.sleep(50)
    expect(await kmOnMap()).toBe(6)
    await db.sql`DELETE FROM pilgrims`
  })

  test('a replica that cannot read the device forgets and hides no palanquin', async () => {
    const away = () => Promise.reject(new DatabaseTimeout())
    const late = { ...db, read: away } as unknown as Database
    const device = 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye'
    const [one, knowsNone] = [replica(), replica({ db: late })]
    const given: { db: Database } = { db }
    const knowsFormer = replica({ db: new Proxy(db, { get: (_, name: keyof Database) => given.db[name] }) })
    await knowsFormer.refresh()
    given.db = late
    await db.sql`INSERT INTO pilgrims (user_id, palanquin, created_at, updated_at) VALUES (${device}, true, now(), now())`
    await one.refresh()
    await one.report(device, null, 2_000)
    for (let round = 0; round < 2; round++) {
      nowMs += 10_000
      for (const each of [one, knowsNone, knowsFormer, one]) {
        await each.refresh()
        await each.refresh()
        expect((await each.whole()).palanquin?.route_km).toBe(2)
      }
      // Then one of them creates the snapshot.
      nowMs += 10_000
      for (const each of [knowsNone, one]) {
        await each.refresh()
        expect((await each.whole()).palanquin?.route_km).toBe(2)
      }
    }
    await db.sql`DELETE FROM pilgrims`
  })

  const [APP, LINE] = ['w-5hk3q7d2m9x0c4v8b1n6r2t7ye', 'U11111111111111111111111111111111']
  const [OURS, THEIRS, GONE] = ['1', '2', '3'].map(
    (digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`,
  ) as [string, string, string]
  test.each([
    // [whose device, named tracker, what may move it]
    ['the phone of an id that an app made', APP, null, ['phone']],
    ['a tracker of such an id', APP, OURS, [OURS]],
    ['a tracker of an id that others may know, and hide', LINE, OURS, [OURS]],
    ['a tracker that was revoked', LINE, GONE, []],
    ['an id that others may know, named by an earlier release', LINE, null, []],
  ])('one device moves the palanquin: %s', async (_, userId, tracker, movers) => {
    const one = replica()
    await db.sql`INSERT INTO pilgrims (user_id, palanquin, palanquin_tracker, created_at, updated_at)
                 VALUES (${userId}, true, ${tracker}, now(), now())`
    for (const id of [OURS, THEIRS])
      await db.sql`INSERT INTO trackers (id, user_id, key_hash, created_at) VALUES (${id}, ${userId}, ${id}, now())`
    if (userId === LINE)
      await db.sql`UPDATE pilgrims SET participant_status = 'withdrawn', consent_withdrawn = true`
    await one.refresh()
    for (const [i, device] of ['phone', OURS, THEIRS].entries()) {
      await one.report(userId, device === 'phone' ? null : device, 1_000 * (i + 1))
      await one.report('p1', device === 'phone' ? null : device, 9_000)
      nowMs += 10_000
      await one.refresh()
      const moves = Math.round((await one.whole()).palanquin?.route_km ?? 0) === i + 1
      expect({ device, moves }).toEqual({ device, moves: movers.includes(device) })
    }
    await db.sql`DELETE FROM pilgrims`
    await db.sql`DELETE FROM trackers`
  })

  test('answers with the last snapshot, marked, while a store is away; a fresh process without one says 503', async () => {
    const away = { isAway: false }
    const flaky = new Proxy(kv, {
      get: (target, name: keyof Kv) =>
        typeof target[name] === 'function'
          ? (...args: unknown[]) =>
              away.isAway
                ? Promise.reject(new KvUnavailable('away'))
                : (target[name] as (...given: unknown[]) => unknown).apply(target, args)
          : target[name],
    })
    const one = replica({ kv: flaky })
    await standing(30, 2_000, 3_000)
    await one.refresh()
    const before = await one.whole()
    away.isAway = true
    nowMs += 10_000
    await one.refresh()
    const marked = await one.whole()
    expect(marked).toEqual({ ...before, version: before.version + 1, stale: ['crowd'], estimates: [] })
    const fresh = replica({ kv: flaky })
    await fresh.refresh()
    expect(() => fresh.asked()).toThrow(
      expect.objectContaining({ httpStatus: 503, headers: { 'Retry-After': '2' } }),
    )
    away.isAway = false
    nowMs += 10_000
    await one.refresh()
    expect((await one.whole()).stale).toEqual([])
    const broken = { ...db, read: () => Promise.reject(new DatabaseTimeout()) } as Database
    nowMs += 10 * MINUTE
    const without = replica({ db: broken })
    await standing(30, 2_000, 3_000)
    await without.refresh()
    expect(await without.whole()).toMatchObject({ stale: ['totals'], on_map: 30 })
  })
})
