/** All faults, one at a time. */
import Redis from 'ioredis'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { rules } from '#tests/kv/drivers.ts'
import type { LinkCondition } from '#tests/helpers/tcp-proxy.ts'
import { type Part, PARTS, type Link, type TestSystem } from './test-system.ts'
import { CLOCK_NOTICED_MS } from './clocks.ts'
import { type Fault, type Group, kill, restart } from './fault.ts'
import { CLUSTER_FAULTS } from './cluster-faults.ts'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '#tests/helpers/wait.ts'
import { checkIn, setStatus } from '#tests/helpers/test-stack.ts'

/** Each replica of tracking reads the status once a second. */
const KNOWN_MS = 1_500

const emptied = async (system: TestSystem): Promise<void> => {
  const redis = system.part('redis')
  await redis.stop('SIGKILL')
  for (const name of await readdir(redis.dir))
    if (name !== 'server.log') await rm(join(redis.dir, name), { recursive: true })
  await redis.restart()
}

/** Redis restarts empty while it holds pending points. */
const emptyRedis: Fault = {
  name: 'redis restarted with an empty disk',
  group: 'loss',
  loses: true,
  async strike(system) {
    system.part('scheduler').pause()
    await Bun.sleep(1_500)
    await emptied(system)
  },
  mend: (system) => system.part('scheduler').resume(),
  /** A pause survives the loss: an empty Redis does not reopen the event. */
  async after(system, recorded) {
    const { stack } = system
    const setTo = (status: string) =>
      until(async () => (await setStatus(stack, { status })).ok, `the status ${status}`, {
        timeoutMs: 30_000,
      })
    await setTo('paused')
    await Bun.sleep(KNOWN_MS)
    await emptied(system)
    for (let n = 0; n < 40; n++) {
      const { status } = await checkIn(stack, `${recorded.name}.paused-${n}`)
      if (status !== 403 && status !== 503)
        recorded.complain('the loss of the kv reopened the event', `${status}`)
      await Bun.sleep(50)
    }
    await setTo('active')
  },
}

/** kill -9, then a restart as by a supervisor. */
const killing = (name: string, group: Group, parts: readonly Part[], short = false): Fault => ({
  name,
  group,
  short,
  strike: async (system) => void (await kill(system, parts)),
  mend: (system) => restart(system, parts),
})

const freezing = (part: Part, short = false): Fault => ({
  name: `freeze ${part}`,
  group: 'freeze',
  short,
  strike: (system) => system.part(part).pause(),
  mend: (system) => system.part(part).resume(),
})

const cutting = (link: Link, condition: LinkCondition, short = false): Fault => ({
  name: `cut ${link}, ${condition.kind}`,
  group: 'cut',
  short,
  strike: (system) => system.link(link).set(condition),
  mend: (system) => system.link(link).set({ kind: 'clear' }),
})

const MINUTE_S = 60
const HOUR_S = 3_600
const DAY_S = 86_400

const setClock = async ({ clocks }: TestSystem, part: Part, offsetS: number): Promise<void> => {
  clocks!.set(part, offsetS)
  await Bun.sleep(CLOCK_NOTICED_MS)
}

/** The clock jumps from one offset to the next while the part runs. */
const jumping = (part: Part): Fault => {
  const offsetsS = [6 * MINUTE_S, -6 * MINUTE_S, HOUR_S, -HOUR_S, DAY_S, -DAY_S]
  return {
    name: `clock of ${part} jumps up to a day ahead and behind`,
    group: 'clock',
    possible: (system) => system.clocks !== null,
    // Phones are up to ten hours ahead: seen from the day before, more than 24.
    mayRefuse: /lies more than 24 hours ahead/,
    strikeMs: offsetsS.length * CLOCK_NOTICED_MS,
    async strike(system) {
      for (const offsetS of offsetsS) await setClock(system, part, offsetS)
    },
    mend: (system) => setClock(system, part, 0),
  }
}

/** The clock passes midnight while the part runs, and is set back to the day before afterwards. */
const passing = (part: Part, midnight: string, hourUtc: number): Fault => ({
  name: `clock of ${part} passes midnight ${midnight}`,
  group: 'clock',
  possible: (system) => system.clocks !== null,
  strike(system) {
    const untilS = (hourUtc * HOUR_S - ((Date.now() / 1_000) % DAY_S) + DAY_S) % DAY_S
    return setClock(system, part, Math.floor(untilS) - 3)
  },
  mend: (system) => setClock(system, part, 0),
})

const CLOCKS: readonly Part[] = [
  'tracking-2',
  'survey-profile',
  'feedback-media',
  'admin',
  'line-bot',
  'scheduler',
  'postgres',
]

const fullDiskOfRedis: Fault = {
  name: 'full disk under redis',
  group: 'disk',
  possible: (system) => system.redisDisk !== null,
  strike: (system) => system.redisDisk!.fill(),
  async mend(system) {
    await system.redisDisk!.free()
    // Redis ends by itself when it cannot write acknowledged data.
    await restart(system, ['redis'])
  },
}

const fullDiskOfJournal: Fault = {
  name: 'full disk under the journals, redis away',
  group: 'disk',
  possible: (system) => system.journalDisk !== null,
  async strike(system) {
    await system.journalDisk!.fill()
    await kill(system, ['redis'])
  },
  async mend(system) {
    await system.journalDisk!.free()
    await restart(system, ['redis'])
  },
}

/** Limits Redis's memory to its current use plus this many bytes; null: no limit. */
async function limitRedis(system: TestSystem, moreBytes: number | null): Promise<void> {
  const redis = new Redis(system.part('redis').url)
  try {
    const used = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1])
    await redis.config('SET', 'maxmemory', moreBytes === null ? 0 : used + moreBytes)
  } finally {
    redis.disconnect()
  }
}

/** Nothing more is accepted; pending points must still be flushed, which frees memory. */
const redisAtItsLimit: Fault = {
  name: 'redis at its limit of memory',
  group: 'disk',
  strike: (system) => limitRedis(system, 0),
  mend: (system) => limitRedis(system, null),
}

/** Replayed journals fill the remaining memory, and must leave enough for the flush. */
const redisAtItsLimitBesideJournals: Fault = {
  name: 'redis at its limit of memory, beside full journals',
  group: 'disk',
  async strike(system) {
    system.part('redis').pause()
    await Bun.sleep(4_000)
    system.part('redis').resume()
    await limitRedis(system, 100_000)
  },
  mend: (system) => limitRedis(system, null),
}

/** Its journal contains check-ins when it is removed; the other replica must recover them. */
const replicaRemoved: Fault = {
  name: 'replica of tracking removed for good',
  group: 'other',
  short: true,
  async strike(system) {
    system.part('redis').pause()
    await Bun.sleep(2_500)
    await kill(system, ['tracking-2'])
    system.part('redis').resume()
  },
  mend: () => undefined,
  after: (system) => restart(system, ['tracking-2']),
}

const poisonRow: Fault = {
  name: 'poison row in the buffer',
  group: 'other',
  deadLetters: 1,
  async strike(system, prefix) {
    const onError = () => undefined
    const kv = await openKv({ url: system.part('redis').url, partitions: 1, path: '', onError })
    const sentMs = Date.now() - 3_600_000
    const poison = { field: `t${sentMs}`, value: `[0,${sentMs},24,120.5,1,1e308]` }
    const batch = { kind: 'sync', duplicateKey: '', recordedMs: sentMs, position: null } as const
    const submission = { ...batch, id: crypto.randomUUID(), userId: `${prefix}.0`, entries: [poison] }
    await kv.restore(0, [submission], rules())
    await kv.close()
  },
  mend: () => undefined,
}

const pair = (...parts: readonly [Part, ...Part[]]): Fault =>
  killing(`kill ${parts.join(' and ')}`, 'pair', parts)

/** The points are only in the journals of replicas that are killed, and killed again during the replay. */
const frozenThenKilled: Fault = {
  name: 'freeze redis, kill both tracking',
  group: 'pair',
  short: true,
  async strike(system) {
    system.part('redis').pause()
    await Bun.sleep(1_500)
    await kill(system, ['tracking', 'tracking-2'])
  },
  async mend(system) {
    system.part('redis').resume()
    const parts = ['tracking', 'tracking-2'] as const
    const starting = restart(system, parts).catch(() => undefined)
    await Bun.sleep(1_000)
    await kill(system, parts)
    await starting
    await restart(system, parts)
  },
}

const SHORT_KILLS: readonly Part[] = ['redis', 'scheduler']

export const FAULTS: readonly Fault[] = [
  ...PARTS.map((part) => killing(`kill ${part}`, 'kill', [part], SHORT_KILLS.includes(part))),
  killing('kill both tracking', 'kill', ['tracking', 'tracking-2'], true),
  ...PARTS.filter((part) => part !== 'tracking-2').map((part) => freezing(part, part === 'postgres')),
  fullDiskOfRedis,
  fullDiskOfJournal,
  cutting('tracking-2→redis', { kind: 'closed' }, true),
  cutting('tracking-2→redis', { kind: 'torn' }, true),
  cutting('tracking-2→redis', { kind: 'silent' }, true),
  cutting('tracking-2→redis', { kind: 'slow', toServerMs: 200, toClientMs: 300 }, true),
  cutting('scheduler→redis', { kind: 'torn' }),
  cutting('scheduler→postgres', { kind: 'torn' }, true),
  cutting('scheduler→postgres', { kind: 'silent' }),
  cutting('admin→redis', { kind: 'closed' }),
  cutting('survey-profile→postgres', { kind: 'torn' }),
  cutting('line-bot→postgres', { kind: 'silent' }),
  cutting('line-bot→nats', { kind: 'torn' }),
  ...CLOCKS.map(jumping),
  ...(['tracking-2', 'scheduler'] as const).flatMap((part) => [
    passing(part, 'in Taipei', 16),
    passing(part, 'UTC', 24),
  ]),
  redisAtItsLimit,
  redisAtItsLimitBesideJournals,
  replicaRemoved,
  poisonRow,
  pair('redis', 'tracking'),
  pair('postgres', 'scheduler'),
  pair('nats', 'line-bot'),
  pair('redis', 'scheduler'),
  pair('redis', 'postgres'),
  pair('postgres', 'admin'),
  pair('redis', 'admin'),
  pair('nats', 'admin'),
  pair('caddy', 'tracking'),
  pair('postgres', 'line-bot'),
  pair('postgres', 'survey-profile'),
  pair('redis', 'postgres', 'nats'),
  frozenThenKilled,
  emptyRedis,
  ...CLUSTER_FAULTS,
]
