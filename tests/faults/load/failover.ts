/**
 * Counts the check-ins that a failover of Redis loses, and those still missing after the redo log was
 * replayed. The replica follows through a delayed link; then the master is killed and the replica promoted.
 */
import Redis from 'ioredis'
import { createBatcher } from '#shared/points/admission.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { openRedisKv } from '#shared/stores/kv/kv.redis.ts'
import { partitionOf } from '#shared/stores/kv/kv.ts'
import { createLog } from '#shared/runtime/log.ts'
import { stopwatch } from '#shared/runtime/clock.ts'
import { createRedo } from '#shared/points/redo/redo.ts'
import { openRedoLog } from '#shared/points/redo/redo-log.ts'
import type { Database } from '#shared/stores/db/db.ts'
import { migrate } from '#shared/stores/db/migrate.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { startPostgres, startRedis } from '#tests/helpers/servers.ts'
import { openTcpProxy } from '#tests/helpers/tcp-proxy.ts'
import { inDirectory } from '#tests/helpers/in-directory.ts'
import { until } from '#tests/helpers/wait.ts'
import { activate, checkin, rules } from '#tests/kv/drivers.ts'
import { median } from '#tests/tools/bench/measure.ts'
import { percentile } from './steady.ts'

const USAGE = `Kills a Redis master under check-ins, promotes its replica, and prints how many answered check-ins
are missing in the replica, and how many are still missing a few seconds later.

  bun tests/faults/load/failover.ts [options]

  --delays <ms,…>   delays of the link to the replica, one way (default: 0,5,50,200)
  --kills <n>       kills for each delay and way (default: 3)
  --rate <n>        check-ins per second (default: 500)
  --without-redo    without the redo log
  --settings <…>    settings of Redis, such as '--min-replicas-to-write 1'
  --help            print this text`

const { values } = readCommandLine(USAGE, {
  delays: { type: 'string', default: '0,5,50,200' },
  kills: { type: 'string', default: '3' },
  rate: { type: 'string', default: '500' },
  'without-redo': { type: 'boolean', default: false },
  settings: { type: 'string', default: '' },
})

/** Partitions on one of three masters. */
const PARTITIONS = 5
const LOAD_MS = 2_000
/** How long a master that is cut off from its cluster still accepts writes (`--cluster-node-timeout`). */
const NODE_TIMEOUT_MS = 5_000
/** Concurrent check-ins while the maximum rate is measured. */
const AT_ONCE = 256
const REDO_MS = 120_000

/**
 * How the master fails: only its process, so that the link still delivers; together with the link; or cut off
 * from its replica for as long as a cluster takes to replace it.
 */
const WAYS = ['process', 'machine', 'cut off'] as const

async function openPair(delayMs: number) {
  await using opening = new AsyncDisposableStack()
  const args = values.settings === '' ? [] : values.settings.split(' ')
  const master = opening.use(await startRedis({ args }))
  const link = opening.use(await openTcpProxy(master.port))
  link.set({ kind: 'slow', toServerMs: delayMs, toClientMs: delayMs })
  const replica = opening.use(
    await startRedis({
      args: ['--replicaof', '127.0.0.1', `${link.port}`, '--repl-diskless-sync-delay', '0', ...args],
    }),
  )
  const [onMaster, onReplica] = [new Redis(master.url), new Redis(replica.url)]
  for (const client of [onMaster, onReplica]) {
    client.on('error', () => undefined)
    opening.defer(() => client.disconnect())
  }
  const follows = async () => {
    const info = await onReplica.info('replication')
    return info.includes('master_link_status:up') && info.includes(`master_port:${link.port}`)
  }
  await until(follows, 'the replica to follow through the link', { timeoutMs: 30_000 })
  const front = opening.use(await openTcpProxy(master.port))
  const kv = await openRedisKv({
    url: `redis://127.0.0.1:${front.port}`,
    partitions: PARTITIONS,
    onError: () => undefined,
  })
  opening.defer(() => kv.close())
  await until(
    () =>
      activate(kv).then(
        () => true,
        () => false,
      ),
    'a write',
    { timeoutMs: 30_000 },
  )
  return { master, link, front, replica, onMaster, onReplica, kv, all: opening.move() }
}

async function measure(way: (typeof WAYS)[number], delayMs: number, db: Database) {
  const pair = await openPair(delayMs)
  await using _ = pair.all
  const { kv, master, link, front, replica, onMaster, onReplica } = pair
  const submit = createBatcher(kv, rules(), createMetrics('tracking'))
  const log = createLog({}, () => undefined)
  const redo = createRedo({
    kv,
    db,
    rules: rules(),
    redoLog: openRedoLog({ dir: await newDirectory('redo'), stopwatch, log }),
    count: () => undefined,
    refill: async () => undefined,
    neededMs: async () => null,
    log,
  })
  const isKept = !values['without-redo']
  if (isKept) redo.start()
  const answered: { key: string; field: string }[] = []
  const took: number[] = []
  let refused = 0
  const one = async () => {
    const submission = checkin()
    const key = `{gps:${partitionOf(submission.userId, PARTITIONS)}}:buf:${submission.userId}`
    const startedMs = performance.now()
    try {
      const verdict = await submit(submission)
      if (verdict.outcome !== 'admitted') throw new Error(verdict.outcome)
      if (isKept) redo.admitted(submission, verdict)
      took.push(performance.now() - startedMs)
      answered.push({ key, field: submission.entries[0]!.field })
    } catch {
      refused++
    }
  }
  /** CPU microseconds of the master's main thread. */
  const cpu = async () => {
    const info = await onMaster.info('cpu')
    const of = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)![1]) * 1e6
    return of('used_cpu_sys_main_thread') + of('used_cpu_user_main_thread')
  }

  // The maximum rate.
  const [cpuBefore, startedMs] = [await cpu(), performance.now()]
  const worker = async () => {
    while (performance.now() - startedMs < LOAD_MS) await one()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  const highest = (answered.length / (performance.now() - startedMs)) * 1_000

  const full = { answered: answered.length, cpu: ((await cpu()) - cpuBefore) / answered.length }
  took.length = 0

  // A steady rate, during which the master fails.
  const rate = Number(values.rate)
  const under = new Set<Promise<void>>()
  let [sent, isOver] = [0, false]
  const steadyMs = performance.now()
  const steady = (async () => {
    while (!isOver) {
      for (; sent < ((performance.now() - steadyMs) * rate) / 1_000 && !isOver; sent++) {
        const call = one().finally(() => under.delete(call))
        under.add(call)
      }
      await Bun.sleep(1)
    }
  })()
  const cpuSteady = await cpu()
  await Bun.sleep(LOAD_MS + Math.random() * 100)
  const steadyCpu = ((await cpu()) - cpuSteady) / Math.max(1, took.length)
  const sorted = took.toSorted((a, b) => a - b)
  const refusedBefore = refused
  if (way === 'cut off') {
    link.set({ kind: 'silent' })
    await Bun.sleep(NODE_TIMEOUT_MS)
  }
  if (way === 'machine') link.set({ kind: 'closed' })
  const killed = master.stop('SIGKILL')
  isOver = true
  await killed
  await steady
  await Promise.all(under)
  if (way === 'process') await Bun.sleep(delayMs + 500)
  await onReplica.replicaof('NO', 'ONE')
  const missing = async () => {
    const pipeline = onReplica.pipeline()
    for (const { key, field } of answered) pipeline.hexists(key, field)
    return (await pipeline.exec())!.filter(([error, held]) => error !== null || held !== 1).length
  }
  const lost = await missing()
  front.forwardTo(replica.port)
  const promotedMs = performance.now()
  if (isKept)
    await until(async () => (await missing()) === 0, 'the redo', { timeoutMs: REDO_MS }).catch(() => null)
  const redoS = (performance.now() - promotedMs) / 1_000
  const left = await missing()
  await redo.stop()
  return {
    lost,
    left,
    redoS,
    refused: refused - refusedBefore,
    refusedBefore,
    highest,
    cpu: full.cpu,
    steadyCpu,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
  }
}

await inDirectory('failover', async () => {
  await using postgres = await startPostgres()
  await migrate(postgres.url)
  const db = await openDatabase({ url: postgres.url, dir: '' })
  console.log(
    'ms one way, lost by Redis and still missing after the redo (process, machine, cut off), refused before, highest/s, CPU µs (highest, steady), p50, p99, s of the redo',
  )
  for (const delayMs of values.delays.split(',').map(Number)) {
    const runs: Awaited<ReturnType<typeof measure>>[] = []
    const lost: string[] = []
    for (const way of WAYS) {
      const own: typeof runs = []
      for (let n = 0; n < Number(values.kills); n++) own.push(await measure(way, delayMs, db))
      lost.push(own.map((run) => `${run.lost} → ${run.left}`).join(' / '))
      runs.push(...own)
    }
    const of = (name: keyof (typeof runs)[number]) => median(runs.map((run) => run[name])).toFixed(1)
    console.log(
      [
        delayMs,
        ...lost,
        of('refusedBefore'),
        of('highest'),
        of('cpu'),
        of('steadyCpu'),
        of('p50'),
        of('p99'),
        of('redoS'),
      ].join(' | '),
    )
  }
  await db.close()
})
