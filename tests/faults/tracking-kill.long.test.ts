/**
 * Tracking is killed at random moments under a stream of check-ins: while it runs or starts, and while the kv is
 * healthy, slow or stopped. Every check-in that was answered with 202 is stored once.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Server } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { type Phones, startPhones } from './phones.ts'
import { openTrackingHarness, type TrackingHarness } from './tracking-harness.ts'

const KILLS = 4
/** Check-ins of each of the three streams, at most. */
const CHECK_INS = 4_000
const TEST_MS = 60_000

/** Repeats a run: TEST_SEED=… bun run test tracking-kill */
const SEED = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** Mulberry32: the same numbers from the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** What a test has for itself, because the tests run at the same time: they wait most of it. */
interface Own {
  readonly harness: TrackingHarness
  readonly random: () => number
  readonly between: (from: number, to: number) => number
}
const TESTS = ['healthy', 'slow', 'stopped'] as const

describeOnServers('kill -9 of tracking', () => {
  const own = new Map<(typeof TESTS)[number], Own>()
  beforeAll(async () => {
    console.log(`TEST_SEED=${SEED}`)
    await Promise.all(
      TESTS.map(async (name, i) => {
        const harness = await openTrackingHarness()
        const random = randomFrom(SEED + i)
        own.set(name, { harness, random, between: (from, to) => from + random() * (to - from) })
      }),
    )
  }, TEST_MS)
  afterAll(() => Promise.all([...own.values()].map(({ harness }) => harness.close())), TEST_MS)

  /**
   * Kills a replica at random moments, and finally without a restart: another one then takes over.
   * @param startMs the longest duration of a start; without a kv it waits for one
   * @param trouble is called before each kill and breaks the kv
   */
  async function killing(
    name: (typeof TESTS)[number],
    startMs: number,
    trouble: (kill: number) => Promise<void>,
  ): Promise<{ harness: TrackingHarness; phones: Phones; survivor: Server }> {
    const { harness, random, between } = own.get(name)!
    const replica = await harness.startTracking()
    let { url } = replica
    const phones = startPhones(name, () => url, CHECK_INS)
    for (let kill = 1; kill <= KILLS; kill++) {
      await Bun.sleep(between(50, 800))
      await trouble(kill)
      await Bun.sleep(between(0, 800))
      await replica.stop('SIGKILL')
      if (random() < 0.5) {
        // Once more during the start, which may be during journal recovery.
        const starting = replica.restart().catch(() => undefined)
        await Bun.sleep(between(0, startMs))
        await replica.stop('SIGKILL')
        await starting
      }
      if (kill < KILLS) await replica.restart()
    }
    await replica.close()
    const survivor = await harness.startTracking()
    url = survivor.url
    await Bun.sleep(between(0, 500))
    return { harness, phones, survivor }
  }

  const finish = async ({ harness, phones, survivor }: Awaited<ReturnType<typeof killing>>) => {
    await phones.stop()
    await harness.expectStoredOnce(phones.sent, survivor)
    await survivor.close()
    // The stream was large enough: hundreds of check-ins, and some lost answers.
    expect(phones.sent.length).toBeGreaterThan(200)
    expect(phones.sent.filter(({ statuses }) => statuses.includes(0)).length).toBeGreaterThan(0)
  }

  test.concurrent(
    'kv healthy: every 202 is stored once',
    async () => {
      await finish(await killing('healthy', 1_000, async () => undefined))
    },
    TEST_MS,
  )

  test.concurrent(
    'kv two seconds late, on the way there or back: every 202 is stored once',
    async () => {
      const { harness, random } = own.get('slow')!
      const killed = await killing('slow', 3_500, async () => {
        const toServerMs = [0, 1_000, 2_000][Math.floor(random() * 3)]!
        harness.network.set({ kind: 'slow', toServerMs, toClientMs: 2_000 - toServerMs })
      })
      harness.network.set({ kind: 'clear' })
      await finish(killed)
    },
    TEST_MS,
  )

  test.concurrent(
    'kv stopped: every 202 is stored once',
    async () => {
      const { harness, between } = own.get('stopped')!
      const { redis } = harness
      const killed = await killing('stopped', 3_500, async (kill) => {
        // The kv stops twice during the stream and is down afterwards.
        if (kill % 2 === 0) return
        if (kill > 1) await redis.restart()
        // Requests to the frozen process are lost with it.
        redis.pause()
        await Bun.sleep(between(300, 1_500))
        await redis.stop('SIGKILL')
      })
      await redis.restart()
      await finish(killed)
    },
    TEST_MS,
  )
})
