/** Flushes that are killed at random moments, and concurrent flushes: each point is stored once, totals are exact. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { fieldOf, type Point } from '#shared/points/point.ts'
import { describeFlushOnServers, NOON, type FlushHarness } from '#tests/scheduler/flush-harness.ts'
import { expectNothingToRebuild, expectProjections } from '#tests/scheduler/projections.ts'
import { createRandom, type Random } from '#tests/helpers/random.ts'
import { jumbled, wander } from '#tests/scheduler/walks.ts'
import { until } from '#tests/helpers/wait.ts'

const KILLS = 20
const PILGRIMS = 100
const POINTS = 20_000
const DAY_MS = 86_400_000
/** Duration of a flush of one slice; a kill may come at any moment of it. */
const WORK_MS = 250
const TEST_MS = 240_000

interface Arrival {
  readonly userId: string
  readonly point: Point
}

/** Points of three days in order of arrival: most in time order, some hours or days late. */
function arrivals(random: Random): Arrival[] {
  const walks = Array.from({ length: PILGRIMS }, (_, i) =>
    wander(random, POINTS / PILGRIMS, NOON - 3 * DAY_MS, 3).map((point) => ({
      userId: `pilgrim-${i}`,
      point,
    })),
  )
  const byTime = walks.flat().sort((a, b) => a.point.recordedMs - b.point.recordedMs)
  return jumbled(random, byTime, POINTS / 3)
}

async function feed(harness: FlushHarness, portion: readonly Arrival[]): Promise<void> {
  for (const [userId, mine] of Map.groupBy(portion, ({ userId }) => userId))
    await harness.buffer(
      userId,
      mine.map(({ point }) => point),
    )
}

/** A flush in a child process, and its last line of output. */
class Flusher {
  last = ''
  readonly complaints: string[] = []
  readonly #child: Bun.Subprocess<'ignore', 'pipe', 'inherit'>

  constructor(harness: FlushHarness, locks: 'locked' | 'lockless') {
    const { databaseUrl, redisUrl } = harness.urls
    const script = join(import.meta.dir, 'flush-process.ts')
    this.#child = Bun.spawn([process.execPath, script, databaseUrl, redisUrl, `${NOON}`, locks], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    void this.#listen()
  }

  async #listen(): Promise<void> {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const bytes of this.#child.stdout) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
      rest = lines.pop()!
      for (const line of lines)
        if (line.startsWith('{')) this.complaints.push(line)
        else this.last = line
    }
  }

  async kill(): Promise<void> {
    expect(this.#child.exitCode).toBeNull()
    this.#child.kill('SIGKILL')
    await this.#child.exited
  }
}

/** Expects each point once in the table, an empty buffer, and totals equal to a recomputation. */
async function expectAllStored(harness: FlushHarness, all: readonly Arrival[]): Promise<void> {
  // A killed flush may leave the map to the next one.
  expect(await harness.flush()).toMatchObject({ stored: 0, failures: 0 })
  const rows = await harness.db.sql<{ id: string }[]>`
    SELECT user_id || ' ' || kind || (extract(epoch FROM sent_at) * 1000)::bigint AS id FROM gps_points`
  const distinct = new Set(all.map(({ userId, point }) => `${userId} ${fieldOf(point)}`))
  expect(rows.length).toBe(distinct.size)
  expect(new Set(rows.map(({ id }) => id))).toEqual(distinct)
  expect(await harness.pending()).toEqual([])
  expect(await harness.kv.bufferSize()).toBe(0)
  expect([...(await harness.deadLetters())]).toEqual([])
  await expectProjections(harness.db, harness.calendar)
  await expectNothingToRebuild(harness)
}

const emptied = (harness: FlushHarness) =>
  until(async () => (await harness.kv.bufferSize()) === 0, 'the buffer to be empty', {
    timeoutMs: 60_000,
    everyMs: 100,
  })

describeFlushOnServers('flush under kill -9', (harness) => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9))

  test(
    `killed ${KILLS} times while another one waits, seed ${seed}`,
    async () => {
      const random = createRandom(seed)
      const all = arrivals(random)
      const flushers = [new Flusher(harness, 'locked'), new Flusher(harness, 'locked')]
      const complaints: string[] = []
      let fed = 0
      try {
        for (let kills = 0; kills < KILLS;) {
          const portion = Math.ceil((all.length - fed) / (KILLS - kills + 2))
          const feeding = feed(harness, all.slice(fed, fed + portion))
          fed += portion
          const working = await until(
            () => flushers.find(({ last }) => last === 'working'),
            'a flush to work',
            { timeoutMs: 30_000, everyMs: 1 },
          )
          await Bun.sleep(random() * WORK_MS)
          // A flush that has ended is not killed: a kill must interrupt work.
          if (working.last === 'working') {
            await working.kill()
            complaints.push(...working.complaints)
            flushers[flushers.indexOf(working)] = new Flusher(harness, 'locked')
            kills++
          }
          await feeding
        }
        await feed(harness, all.slice(fed))
        await emptied(harness)
      } finally {
        for (const flusher of flushers) await flusher.kill()
      }
      expect(complaints.concat(...flushers.map((flusher) => flusher.complaints))).toEqual([])
      await expectAllStored(harness, all)
    },
    TEST_MS,
  )

  test(
    `three at once that all believe to hold the lock, seed ${seed}`,
    async () => {
      const random = createRandom(seed)
      const all = arrivals(random)
      const flushers = Array.from({ length: 3 }, () => new Flusher(harness, 'lockless'))
      try {
        for (let from = 0; from < all.length; from += 1_000)
          await feed(harness, all.slice(from, from + 1_000))
        await emptied(harness)
      } finally {
        for (const flusher of flushers) await flusher.kill()
      }
      expect(flushers.flatMap(({ complaints }) => complaints)).toEqual([])
      await expectAllStored(harness, all)
    },
    TEST_MS,
  )
})
