/** Faults in which the store itself loses what it held: that much is missing, and known to be. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '#tests/helpers/wait.ts'
import { checkIn, setStatus } from '#tests/helpers/test-stack.ts'
import { type Arena, OWNER } from './test-system.ts'
import { type Fault, kill, restart } from './fault.ts'

const FAILOVER_MS = 5_000
/** Each replica of tracking looks at the status once a second. */
const KNOWN_MS = 1_500

const emptied = async (arena: Arena): Promise<void> => {
  const redis = arena.part('redis')
  await redis.stop('SIGKILL')
  for (const name of await readdir(redis.dir))
    if (name !== 'server.log') await rm(join(redis.dir, name), { recursive: true })
  await redis.restart()
}

/** Redis comes back with nothing at all, while points wait in it for the flush. */
export const emptyRedis: Fault = {
  name: 'redis restarted with an empty disk',
  group: 'loss',
  loses: true,
  async strike(arena) {
    arena.part('scheduler').pause()
    await Bun.sleep(1_500)
    await emptied(arena)
  },
  mend: (arena) => arena.part('scheduler').resume(),
  /** A pause outlives it: what Redis has forgotten does not open the event. */
  async after(arena, book) {
    const { world } = arena
    const setTo = (status: string) =>
      until(async () => (await setStatus(world, { status })).ok, {
        timeoutMs: 30_000,
        what: `the status ${status}`,
      })
    await setTo('paused')
    await Bun.sleep(KNOWN_MS)
    await emptied(arena)
    for (let n = 0; n < 40; n++) {
      const { status } = await checkIn(world, `${book.name}.paused-${n}`)
      if (status !== 403 && status !== 503) book.complain('opened by the loss of the kv', `${status}`)
      await Bun.sleep(50)
    }
    await setTo('active')
    const isTold = () =>
      arena.line.sent.some(({ to, messages }) => to[0] === OWNER && /lost/.test(JSON.stringify(messages)))
    await until(isTold, { timeoutMs: 90_000, what: 'the owner to be told of the loss' }).catch(() =>
      book.complain('nobody was alarmed', 'points are lost'),
    )
  },
}

/** A replica takes the place of a master that is killed; what it had not got yet is lost. */
export const clusterFailover: Fault = {
  name: 'kill a master of a Redis Cluster',
  group: 'cluster',
  loses: true,
  async strike(arena) {
    await kill(arena, ['redis'])
    // Longer than the nodes take to agree on the next master.
    await Bun.sleep(FAILOVER_MS)
  },
  mend: (arena) => restart(arena, ['redis']),
}
