/** Faults in which the store itself loses data; the service must count those points as lost. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LOOK_EVERY_MS } from '#shared/service/alerts/watch.ts'
import { until } from '#tests/helpers/wait.ts'
import { checkIn, setStatus } from '#tests/helpers/test-stack.ts'
import { type TestSystem, OWNER } from './test-system.ts'
import type { Fault } from './fault.ts'

/** Each replica of tracking reads the status once a second. */
const KNOWN_MS = 1_500

const alertsOf = ({ line }: TestSystem): string[] =>
  line.sent.filter(({ to }) => to[0] === OWNER).map(({ messages }) => JSON.stringify(messages))

/**
 * Failures within a minute belong to one incident, and the next message of that is minutes away. The incident itself may
 * go on: a dead letter of an earlier fault is told for a day.
 */
const CALM_MS = 60_000 + 2 * LOOK_EVERY_MS

const emptied = async (system: TestSystem): Promise<void> => {
  const redis = system.part('redis')
  await redis.stop('SIGKILL')
  for (const name of await readdir(redis.dir))
    if (name !== 'server.log') await rm(join(redis.dir, name), { recursive: true })
  await redis.restart()
}

/** Redis restarts empty while it holds pending points. */
export const emptyRedis: Fault = {
  name: 'redis restarted with an empty disk',
  group: 'loss',
  loses: true,
  before: () => Bun.sleep(CALM_MS),
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
      until(async () => (await setStatus(stack, { status })).ok, {
        timeoutMs: 30_000,
        what: `the status ${status}`,
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
    const isAlerted = () => alertsOf(system).some((text) => text.includes('lost'))
    await until(isAlerted, { timeoutMs: 90_000, what: 'an alert to the owner about the loss' }).catch(() =>
      recorded.complain('no alert was sent', 'points are lost'),
    )
  },
}
