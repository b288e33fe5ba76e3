/** Journal recovery: every entry reaches the kv once, for every outcome of its first call. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Journal, openJournal } from '#shared/points/journal/journal.ts'
import { createJournalRecovery, type JournalRecovery } from '#shared/points/journal/journal-recovery.ts'
import { openEmbeddedKv } from '#shared/stores/kv/kv.embedded.ts'
import { openRedisKv } from '#shared/stores/kv/kv.redis.ts'
import { type Kv, KvUnavailable, partitionOf, type Submission, type Verdict } from '#shared/stores/kv/kv.ts'
import { createLog, LoggableError } from '#shared/runtime/log.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { startRedisCluster } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { checkin, onError, rules } from '#tests/kv/drivers.ts'

const ADMITTED: Verdict = {
  outcome: 'admitted',
  duplicates: 0,
  duplicate: false,
  pending: 1,
  recordedMs: 1,
  held: null,
}

let dir: string
let journal: Journal
let kv: Kv
let lines: string[]
const replayOn = (store: Kv): JournalRecovery =>
  createJournalRecovery({
    kv: store,
    journal,
    redo: null,
    rules: rules(),
    log: createLog({}, (line) => lines.push(line)),
  })
const stored = async () => (await kv.drain(0, await kv.pendingUsers(0))).flatMap(({ entries }) => entries)

beforeEach(async () => {
  lines = []
  dir = await newDirectory('replay')
  journal = openJournal(join(dir, 'journal'), 10_000)
  kv = await openEmbeddedKv({ path: join(dir, 'kv'), onError })
})
afterEach(async () => {
  journal?.close()
  await kv?.close()
  await rm(dir, { recursive: true })
})

test('one round recovers more than a page of entries, each once', async () => {
  const replay = replayOn(kv)
  await Promise.all(Array.from({ length: 1_234 }, () => replay.journal(checkin(), null)))
  expect(journal.size()).toBe(1_234)
  replay.start()
  await until(() => journal.size() === 0, 'the replay')
  await replay.stop()
  expect(await stored()).toHaveLength(1_234)
  expect((await kv.counters())[0]).toMatchObject({ admitted: 1_234, duplicate: 0 })
  expect(lines).toEqual([])
})

test('an entry whose first call is under way is left alone; an admission removes it, any other outcome leads to recovery', async () => {
  const replay = replayOn(kv)
  const calls = Array.from({ length: 4 }, () => Promise.withResolvers<Verdict>())
  const submissions = calls.map(() => checkin())
  await Promise.all(calls.map(({ promise }, i) => replay.journal(submissions[i]!, promise)))
  replay.start()
  await replay.journal(checkin({ userId: 'beside' }), null)
  await until(() => journal.size() === 4, 'the one beside them to be brought')
  expect(await stored()).toHaveLength(1)
  const [admitted, limited, away, paused] = calls
  admitted!.resolve(ADMITTED)
  limited!.resolve({ outcome: 'limited', retryAfterMs: 1 })
  away!.reject(new KvUnavailable('late'))
  paused!.resolve({ outcome: 'refused', status: 'paused', message: null })
  await until(() => journal.size() === 0, 'the replay')
  expect(await kv.peek(submissions[0]!.userId)).toEqual([])
  for (const { userId } of submissions.slice(1)) expect(await kv.peek(userId)).toHaveLength(1)
  await replay.stop()
  expect(lines).toEqual([])
})

test('a stop recovers all entries once more, also those whose first call was under way', async () => {
  const replay = replayOn(kv)
  const call = Promise.withResolvers<Verdict>()
  await replay.journal(checkin(), call.promise)
  await replay.stop()
  expect(journal.size()).toBe(0)
  journal.close()
  // A response after the stop has no effect.
  call.resolve(ADMITTED)
  await Bun.sleep(0)
  expect(lines).toEqual([])
  journal = openJournal(join(dir, 'journal'), 1)
})

test('one round recovers several pages', async () => {
  const replay = replayOn(kv)
  await Promise.all(Array.from({ length: 1_234 }, () => replay.journal(checkin(), null)))
  // Not started, so a stop runs a single round.
  await replay.stop()
  expect(journal.size()).toBe(0)
  expect(await stored()).toHaveLength(1_234)
})

test('an entry that the kv can never take holds up no other, and stays in the journal', async () => {
  const entries = Array.from({ length: 30 }, () => checkin())
  const bad = entries[0]!.id
  const poisoned: Kv = {
    ...kv,
    restore: (partition, submissions, by) =>
      submissions.some(({ id }) => id === bad)
        ? Promise.reject(new LoggableError('it cannot be stored'))
        : kv.restore(partition, submissions, by),
  }
  const replay = replayOn(poisoned)
  for (const entry of entries) await replay.journal(entry, null)
  replay.start()
  await until(() => journal.size() === 1, 'the other entries')
  await replay.stop()
  expect(journal.after(0, 10).map(({ submission }) => submission.id)).toEqual([bad])
  expect(await stored()).toHaveLength(29)
  expect(lines.join()).toContain('it cannot be stored')
})

test('a round begins only when the one before has ended', async () => {
  let [underWay, most] = [0, 0]
  const replay = replayOn({
    ...kv,
    async restore(...given) {
      most = Math.max(most, ++underWay)
      // Longer than the interval between two rounds.
      await Bun.sleep(2_200)
      const restored = await kv.restore(...given)
      underWay--
      return restored
    },
  })
  await replay.journal(checkin(), null)
  replay.start()
  await until(() => journal.size() === 0, 'the round')
  await replay.stop()
  expect(most).toBe(1)
})

test('journals of ended replicas are adopted and logged; a damaged one is logged as an error', async () => {
  const gone = openJournal(join(dir, 'journal'), 10)
  await gone.append(checkin({ userId: 'U' }))
  gone.close()
  writeFileSync(join(dir, 'journal', 'damaged.journal'), 'no journal'.repeat(1_000))
  const replay = replayOn(kv)
  replay.start()
  await until(async () => (await kv.peek('U')).length === 1, 'the replay')
  await replay.stop()
  const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(logged).toMatchObject([
    { level: 'warn', entries: 1 },
    {
      level: 'error',
      message: 'the journal damaged.journal could not be adopted',
      error_type: 'SQLiteError',
    },
  ])
})

describeOnServers('a replay into a Redis Cluster', () => {
  test('an unavailable partition does not delay the recovery of the others (long)', async () => {
    await using cluster = await startRedisCluster()
    const store = await openRedisKv({
      url: cluster.url,
      partitions: 16,
      admitWithinMs: 500,
      onError: () => undefined,
    })
    await cluster.nodes[0]!.stop('SIGKILL')
    const probe = async (partition: number) =>
      store.drain(partition, ['nobody']).then(
        () => true,
        () => false,
      )
    const reachable = await Promise.all(Array.from({ length: 16 }, (_, partition) => probe(partition)))
    expect(reachable).toContain(true)
    expect(reachable).toContain(false)
    const isReachable = ({ userId }: Submission) => reachable[partitionOf(userId, 16)]!
    const all = Array.from({ length: 4_000 }, () => checkin())
    // More than a page of entries for the unavailable partition precedes the first one for another.
    const waiting = all.filter((one) => !isReachable(one)).slice(0, 700)
    const going = all.filter(isReachable).slice(0, 300)
    const replay = replayOn(store)
    await Promise.all([...waiting, ...going].map((one) => replay.journal(one, null)))
    replay.start()
    await until(() => journal.size() === waiting.length, 'the others to go')
    await cluster.nodes[0]!.restart()
    await until(() => journal.size() === 0, 'the rest to go')
    await replay.stop()
    expect(await store.bufferSize()).toBe(waiting.length + going.length)
    await store.close()
  })
})
