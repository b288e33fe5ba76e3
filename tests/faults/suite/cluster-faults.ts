/** Faults of a cluster, in which every store and every service is redundant. */
import Redis from 'ioredis'
import { connect } from 'nats'
import { ServiceName } from '#shared/contracts/endpoint.ts'
import type { Server } from '#tests/helpers/servers.ts'
import { until } from '#tests/helpers/wait.ts'
import { type Fault, kill, restart } from './fault.ts'
import type { TestSystem } from './test-system.ts'

/** Longer than the election of a new master, or of a new stream leader. */
const ELECTION_MS = 5_000
const WAIT_MS = 30_000

/** Restarts the killed first Redis node, and makes it a master again. */
async function bringRedisBack(system: TestSystem): Promise<void> {
  await restart(system, ['redis'])
  const redis = new Redis(system.part('redis').url)
  const has = (text: string) => async () => (await redis.info('replication')).includes(text)
  try {
    await until(has('master_link_status:up'), 'the node to follow', { timeoutMs: WAIT_MS })
    await redis.cluster('FAILOVER')
    await until(has('role:master'), 'the node to be a master', { timeoutMs: WAIT_MS })
  } finally {
    redis.disconnect()
  }
}

/** The NATS server that leads the stream: the worst one to lose. */
async function streamLeader(system: TestSystem): Promise<Server> {
  const { nats } = system.cluster!
  const connection = await connect({ servers: nats.map(({ port }) => `127.0.0.1:${port}`) })
  try {
    const { cluster } = await (await connection.jetstreamManager()).streams.info('EVENT')
    return nats[Number(cluster!.leader!.at(-1))]!
  } finally {
    await connection.close()
  }
}

/** Each process of each service; second processes come last. */
const processes = ({ stack }: TestSystem): Server[] =>
  [0, 1].flatMap((replica) => ServiceName.options.map((name) => stack.service(name, replica)))

/** Approximate time of an election, a copy of Postgres and a restart. */
const REPAIR_MS = 15_000

/** A server stopped by a fault, until it is restarted. */
let stopped: Server | undefined

/** A replica replaces the master. */
const masterKilled: Fault = {
  name: 'kill a master of a Redis Cluster',
  group: 'cluster',
  strikeMs: REPAIR_MS,
  async strike(system) {
    await kill(system, ['redis'])
    await Bun.sleep(ELECTION_MS)
  },
  mend: bringRedisBack,
}

const natsCutOff: Fault = {
  name: 'cut the leader of a NATS cluster off',
  group: 'cluster',
  async strike(system) {
    stopped = await streamLeader(system)
    stopped.pause()
    await Bun.sleep(ELECTION_MS)
  },
  mend: () => stopped?.resume(),
}

const standbyPromoted: Fault = {
  name: 'kill Postgres, promote its standby',
  group: 'cluster',
  strikeMs: REPAIR_MS,
  strike: (system) => system.cluster!.promote(),
  mend: (system) => system.cluster!.follow(),
}

const halfKilled: Fault = {
  name: 'kill one half of everything',
  group: 'cluster',
  strikeMs: REPAIR_MS,
  async strike(system) {
    stopped = await streamLeader(system)
    const half = processes(system).slice(ServiceName.options.length)
    await Promise.all([
      kill(system, ['redis']),
      system.cluster!.promote(),
      ...[stopped, ...half].map((server) => server.stop('SIGKILL')),
    ])
    await Bun.sleep(ELECTION_MS)
  },
  async mend(system) {
    const half = processes(system).slice(ServiceName.options.length)
    await Promise.all([
      bringRedisBack(system),
      system.cluster!.follow(),
      ...[stopped!, ...half].map((server) => server.restart()),
    ])
  },
}

/** The rollout of a release: the processes stop and restart one after the other. */
const rolled: Fault = {
  name: 'restart every process in turn',
  group: 'cluster',
  strikeMs: 20_000,
  async strike(system) {
    for (const process of processes(system)) {
      await process.stop('SIGTERM')
      await process.restart()
    }
  },
  mend: () => undefined,
}

export const CLUSTER_FAULTS = [masterKilled, natsCutOff, standbyPromoted, halfKilled, rolled]
