/** Durability of the embedded kv: restarts, kill -9, compaction and a full disk. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createOfflineAdmission } from '#shared/stores/kv/admit-in-memory.ts'
import { openEmbeddedKv } from '#shared/stores/kv/kv.embedded.ts'
import { type Kv, KvUnavailable } from '#shared/stores/kv/kv.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { mountSmallDisk } from '#tests/helpers/small-disk.ts'
import { until } from '#tests/helpers/wait.ts'
import { activate, admit, checkin, onError, rules, sync } from './drivers.ts'

let dir = ''
beforeAll(async () => void (dir = await newDirectory('kv-embedded')))
afterAll(() => rm(dir, { recursive: true, force: true }))
const newPath = () => join(dir, crypto.randomUUID())

/** The whole state of a store. */
async function remembered(kv: Kv) {
  const users = await kv.pendingUsers(0)
  return {
    pending: await kv.drain(0, users),
    oldest: await kv.oldestPending(),
    counters: await kv.counters(),
    status: await kv.status(),
    moved: await kv.moved(0, 0, 1_000),
    hidden: await kv.hidden(0),
    cached: await kv.cached('key'),
    forgotten: await kv.cached('forgotten'),
  }
}

/** Writes data of every kind. */
async function fill(kv: Kv): Promise<void> {
  await kv.setStatus({ status: 'paused', version: 1, message: 'a\nb' })
  await activate(kv, 2)
  for (let t = 0; t < 40; t++) await admit(kv, sync(`U${t % 7}`, [t, t + 1]), rules())
  await admit(kv, checkin({ t: 5, userId: 'U1' }))
  const [stored] = await kv.drain(0, ['U3'])
  await kv.acknowledge(0, [stored!, { userId: 'U4', entries: (await kv.peek('U4')).slice(1) }])
  await kv.renew(0, ['U5'], 60_000)
  for (const userId of ['U1', 'U2'])
    await admit(kv, sync(userId, [50], { position: { t: 50, lat: 1, lng: 1 } }), rules())
  await kv.hide('U1', true)
  await kv.hide('U2', true)
  await kv.hide('U2', false)
  await kv.cache('key', 'value', 60_000)
  await kv.cache('forgotten', 'value', 60_000)
  await kv.forget('forgotten')
}

test('a restart restores everything, before and after the log is rewritten', async () => {
  const path = newPath()
  const first = await openEmbeddedKv({ path, onError })
  await fill(first)
  const before = await remembered(first)
  expect(before.pending).toHaveLength(6)
  await first.close()
  // The first start replays and rewrites the log; the second replays the rewritten one.
  for (let start = 0; start < 2; start++) {
    const again = await openEmbeddedKv({ path, onError })
    expect(await remembered(again)).toEqual(before)
    // Duplicates and charges are remembered as well.
    expect(await admit(again, checkin({ t: 5, userId: 'U1', id: `${start}` }))).toMatchObject({
      duplicate: true,
    })
    before.counters = await again.counters()
    await again.close()
  }
})

test('compaction, in the middle of writes, keeps the state and shortens the log', async () => {
  const path = newPath()
  const kv = await openEmbeddedKv({ path, onError, compactAfter: 20 })
  for (let round = 0; round < 10; round++) {
    await fill(kv)
    await Promise.all([
      admit(kv, sync('new', [round]), rules()),
      kv.acknowledge(0, []),
      kv.cache('key', `${round}`, 60_000),
    ])
  }
  const before = await remembered(kv)
  await kv.close()
  const again = await openEmbeddedKv({ path, onError })
  expect(await remembered(again)).toEqual(before)
  expect(before.cached).toBe('9')
  await again.close()
  expect(Bun.file(path).size).toBeLessThan(200_000)
})

test('a flush without points shortens the log, too', async () => {
  const path = newPath()
  let nowMs = 1_000_000
  const kv = await openEmbeddedKv({ path, onError, compactAfter: 20, now: () => nowMs })
  // Versions of the map, while no points are sent.
  for (let version = 0; version < 120; version++) {
    nowMs += 10_000
    await kv.cache(`map/${version}`, 'x'.repeat(10_000), 60_000)
    if (version % 15 === 14) expect(await kv.pendingUsers(0)).toEqual([])
  }
  expect(await kv.cached('map/119')).not.toBeNull()
  await kv.close()
  expect(Bun.file(path).size).toBeLessThan(600_000)
})

test('after its clock is set back check-ins are limited for their window, and not until it has caught up', async () => {
  let nowMs = 1_800_000_000_000
  const now = () => nowMs
  const kv = await openEmbeddedKv({ path: newPath(), onError, now })
  await activate(kv)
  const offline = createOfflineAdmission(rules(), now)
  offline.learn(await kv.status())
  const both = async (userId: string) => {
    const submission = checkin({ userId, position: null })
    return [await admit(kv, submission), offline.decide(submission)]
  }
  const admitted = { outcome: 'admitted' }
  const limited = { outcome: 'limited', retryAfterMs: 60_000 } as const
  for (let i = 0; i < 5; i++) expect(await both('U')).toMatchObject([admitted, admitted])
  nowMs -= 3_600_000
  expect(await both('U')).toEqual([limited, limited])
  nowMs += 60_000
  expect(await both('U')).toMatchObject([admitted, admitted])
  await kv.close()
})

test('expired points do not come back with a later point, nor after a restart', async () => {
  let nowMs = 1_000_000
  const path = newPath()
  const open = () => openEmbeddedKv({ path, onError, now: () => nowMs })
  const kv = await open()
  await activate(kv)
  await admit(kv, sync('U', [1]))
  nowMs += rules().retentionMs
  expect(await kv.peek('U')).toEqual([])
  expect(await admit(kv, sync('U', [2]))).toMatchObject({ pending: 1 })
  await kv.close()
  const again = await open()
  expect((await again.peek('U')).map(({ field }) => field)).toEqual(['t2'])
  expect(await again.oldestPending()).toBe(nowMs)
  await again.close()
})

test('the general rate limits delete expired windows, and only those', async () => {
  let nowMs = 1_000_000
  const kv = await openEmbeddedKv({ path: newPath(), onError, now: () => nowMs })
  const long = { max: 1, windowMs: 7_200_000 }
  expect((await kv.limit('a', '1', long)).allowed).toBe(true)
  nowMs += 7_000_000
  expect((await kv.limit('b', '1', { max: 1, windowMs: 1_000 })).allowed).toBe(true)
  expect(await kv.limit('a', '2', long)).toEqual({ allowed: false, remaining: 0, retryAfterMs: 200_000 })
  nowMs += 200_000
  expect((await kv.limit('a', '2', long)).allowed).toBe(true)
  await kv.close()
})

test('after the clock is set back a limit lasts one window, and not until the clock has caught up', async () => {
  let nowMs = 10_000_000
  const kv = await openEmbeddedKv({ path: newPath(), onError, now: () => nowMs })
  const window = { max: 2, windowMs: 60_000 }
  for (const id of ['1', '2']) expect((await kv.limit('a', id, window)).allowed).toBe(true)
  nowMs -= 3_600_000
  expect(await kv.limit('a', '3', window)).toEqual({ allowed: false, remaining: 0, retryAfterMs: 60_000 })
  nowMs += 59_999
  expect(await kv.limit('a', '3', window)).toEqual({ allowed: false, remaining: 0, retryAfterMs: 1 })
  nowMs += 1
  expect((await kv.limit('a', '3', window)).allowed).toBe(true)
  await kv.close()
})

test('a second process waits for its predecessor to stop, and is refused while it runs', async () => {
  const path = newPath()
  const first = await openEmbeddedKv({ path, onError })
  await activate(first)
  const { openChangeLog } = await import('#shared/stores/kv/embedded/log.ts')
  expect(() => openChangeLog(path, () => undefined, 50)).toThrow('locked')
  await first.close()
  openChangeLog(path, () => undefined, 50).close()
})

test('kill -9 at any moment loses no confirmed write', async () => {
  const path = newPath()
  for (let round = 0; round < 6; round++) {
    const said = await writeUntilKilled(path, round * 1_000_000 + 1)
    const kv = await openEmbeddedKv({ path, onError })
    const [stored, settling, settled] = ['+', '?', '-'].map((sign) => said(sign))
    const held = new Set(
      (await kv.drain(0, await kv.pendingUsers(0))).flatMap(({ entries }) => entries.map((e) => e.field)),
    )
    expect(stored!.size).toBeGreaterThan(20)
    expect(stored!.difference(settling!).difference(held)).toEqual(new Set())
    expect(settled!.intersection(held)).toEqual(new Set())
    await kv.close()
  }
})

/** Starts the writer, kills it while it writes, and returns its output by sign. */
async function writeUntilKilled(path: string, from: number): Promise<(sign: string) => Set<string>> {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, 'write-until-killed.ts'), path, `${from}`],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let output = ''
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stdout) output += decoder.decode(chunk, { stream: true })
  })()
  await until(() => output.length > 500, 'the writer to write')
  await Bun.sleep(Math.random() * 150)
  child.kill('SIGKILL')
  await child.exited
  await reading
  const lines = output.split('\n')
  return (sign) => new Set(lines.filter((line) => line.startsWith(sign)).map((line) => line.slice(1)))
}

const disk = await mountSmallDisk(1_024)
describe.skipIf(disk === null)('a full disk', () => {
  afterAll(() => disk!.unmount())

  test('a full disk rejects as unavailable, and every confirmed write is there when it has space again', async () => {
    const path = join(disk!.dir, 'kv.sqlite')
    const kv = await openEmbeddedKv({ path, onError })
    await activate(kv)
    const value = 'x'.repeat(2_000)
    const write = (t: number) => admit(kv, sync('U', [], { entries: [{ field: `t${t}`, value }] }), generous)
    const promised: string[] = []
    for (let t = 0; t < 20; t++) if ((await write(t)).outcome === 'admitted') promised.push(`t${t}`)
    await disk!.fill()
    const refusals: unknown[] = []
    for (let t = 20; t < 60; t++) {
      const outcome = await write(t).then(
        () => 'admitted',
        (error: unknown) => error,
      )
      if (outcome === 'admitted') promised.push(`t${t}`)
      else refusals.push(outcome)
    }
    expect(refusals.length).toBeGreaterThan(2)
    for (const refusal of refusals) expect(refusal).toBeInstanceOf(KvUnavailable)
    expect(await rejection(kv.probe())).toBeInstanceOf(KvUnavailable)
    // Rejected before anything changes: repeated rejections do not accumulate.
    expect((await kv.peek('U')).length).toBe(promised.length + 1)

    await disk!.free()
    await kv.probe()
    expect(await write(60)).toMatchObject({ outcome: 'admitted', pending: promised.length + 2 })
    await kv.close()
    const again = await openEmbeddedKv({ path, onError })
    const held = new Set((await again.peek('U')).map(({ field }) => field))
    expect(new Set([...promised, 't60']).difference(held)).toEqual(new Set())
    expect(held.size).toBe(promised.length + 2)
    await again.close()
  })
})

const generous = rules({ sync: { max: 1_000_000, windowMs: 1 } })
