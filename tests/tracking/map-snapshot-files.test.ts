/** The public map writes its responses as files with the same content. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FollowersMap } from '#services/tracking/map/map-snapshots.ts'
import { LivePositions } from '#services/tracking/map/latest-positions.ts'
import { Palanquin } from '#services/tracking/map/palanquin.ts'
import { PublicMap } from '#services/tracking/map/public-map.ts'
import type { EventMap } from '#shared/contracts/map.ts'
import type { Database } from '#shared/stores/db/db.ts'
import { type Kv, KvUnavailable } from '#shared/stores/kv/kv.ts'
import { openEmbeddedKv } from '#shared/stores/kv/kv.embedded.ts'
import { createLog } from '#shared/runtime/log.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { onError, restore, sync } from '#tests/kv/drivers.ts'
import { config, event, log, route } from './map-snapshots-harness.ts'

const SLOTS = 4

describe('the map of followers with files', () => {
  const START = Date.parse('2026-04-12T04:10:00Z')
  let dir: string
  let kv: Kv
  let nowMs: number
  let logged: string[]
  let isAway: boolean
  beforeEach(async () => {
    dir = await newDirectory('map-files')
    nowMs = START
    kv = await openEmbeddedKv({ path: `${dir}/kv`, onError, now: () => nowMs })
    await kv.setStatus({ status: 'active', version: 1, message: null })
    logged = []
    isAway = false
  })
  afterEach(() => kv?.close())

  function replica(mapDir: string) {
    const flaky = new Proxy(kv, {
      get: (target, name: keyof Kv) =>
        typeof target[name] === 'function'
          ? (...args: unknown[]) =>
              isAway
                ? Promise.reject(new KvUnavailable('away'))
                : (target[name] as (...given: unknown[]) => unknown).apply(target, args)
          : target[name],
    })
    const now = () => nowMs
    const live = new LivePositions(flaky, now, log)
    const db = { read: () => Promise.reject(new KvUnavailable('no database here')) } as unknown as Database
    const context = {
      config: { ...config, mapDir },
      db,
      event,
      kv: flaky,
      now,
      log: createLog({}, (line) => void logged.push(line)),
    }
    const map = new FollowersMap(context, new PublicMap(live, 1, now), new Palanquin(context))
    return {
      async refresh() {
        await live.refresh()
        await map.refresh()
        // It waits for the files.
        await map.stop()
      },
      data: async (since?: number) =>
        ((await map.answer(new Request('http://event.test/'), since).json()) as { data: EventMap }).data,
    }
  }
  const served = (since: number | '' = '') =>
    JSON.parse(readFileSync(join(dir, `at-${Math.floor(nowMs / 10_000)}`, `map${since}.json`), 'utf8'))
      .data as EventMap
  const walk = (m: number) => restore(kv, sync('p1', [], { position: { t: nowMs, ...route.at(m) } }))

  test('files say what the answers say', async () => {
    const one = replica(dir)
    await walk(100)
    await one.refresh()
    const { version } = await one.data()
    nowMs += 10_000
    await walk(5_000)
    await one.refresh()
    expect(served()).toEqual(await one.data())
    expect(served(version)).toEqual(await one.data(version))
    expect(served(version)).toMatchObject({ since: version })
  })

  test('a map that cannot be renewed is marked in its file, too, and changes are not told since it', async () => {
    const one = replica(dir)
    await walk(100)
    await one.refresh()
    const fresh = await one.data()
    isAway = true
    for (let round = 0; round < SLOTS; round++) {
      nowMs += 10_000
      await one.refresh()
    }
    const stale = await one.data()
    expect(stale).toMatchObject({ stale: ['totals', 'crowd'].sort(), as_of: fresh.as_of })
    expect(served().stale).toContain('crowd')
    isAway = false
    nowMs += 10_000
    await walk(9_000)
    await one.refresh()
    // Another replica may have published that version with another crowd, so only the full map is right
    // for everyone.
    expect((await one.data(stale.version)).since).toBeNull()
    expect(await one.data(fresh.version)).toMatchObject({ since: fresh.version })
    expect(served().stale).not.toContain('crowd')
  })

  test('a folder that cannot be written is told once, and the answers go on', async () => {
    const one = replica(join(dir, 'none'))
    for (let round = 0; round < 3; round++) {
      await one.refresh()
      nowMs += 10_000
    }
    expect(logged.filter((line) => line.includes('writing the files of the map failed'))).toHaveLength(1)
    expect((await one.data()).version).toBe(Math.floor(START / 10_000) + 2)
    mkdirSync(join(dir, 'none'))
    await one.refresh()
    expect(readdirSync(join(dir, 'none'))).toHaveLength(SLOTS + 1)
  })
})
