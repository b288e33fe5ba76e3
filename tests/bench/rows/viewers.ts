/** Viewers of the public map behind Caddy while the crowd walks: bytes and CPU of a viewer's minute. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { readRoute } from '#shared/config/read-route.ts'
import type { Submission } from '#shared/kv/kv.ts'
import { openKv } from '#shared/kv/open-kv.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { type CaddyServer, startCaddy } from '#tests/helpers/servers.ts'
import { onError, rules } from '#tests/kv/drivers.ts'
import { walkerId } from '../aggregates/fill.ts'
import { LOAD_CORE, onCore } from '../load.ts'
import { wireBytes } from '../load/wire-bytes.ts'
import type { Cpu, Row, Sample, Scale } from '../measure.ts'
import { closeAll, cpuSeconds, startDatabase, startPinned, startStore } from '../measured-processes.ts'

const VIEWERS = 10_000
const PILGRIMS = 20_000
/** The procession is this long; everybody walks at the same speed. */
const SPREAD_M = 12_000
const METRES_A_SECOND = 1.2
/** Each pilgrim is heard this often. */
const HEARD_S = 30
/** Mean time between two requests of a viewer. */
const EVERY_S = 12.5
const A_MINUTE = 60 / EVERY_S
/**
 * On a busy machine Caddy leaves out a replica for two seconds when it does not accept a connection within half a
 * second. The page then keeps what it has and asks again, as these viewers do.
 */
const FAILED = 0.05
/** Viewers whose bytes are counted, on HTTP/2. */
const COUNTED = 10

const ROOT = join(import.meta.dir, '../../..')
const ROUTE = join(ROOT, 'shared/client/demo/route.geojson')
const MAP = '/api/event/map'
const FILE = '/map.json'

/** Moves a crowd along the demo's route, by the kv alone, so that nothing but the map costs CPU. */
async function startCrowd(redisUrl: string, pilgrims: number): Promise<() => Promise<void>> {
  const { route } = readRoute(ROUTE, [])
  const kv = await openKv({ url: redisUrl, partitions: 1, path: '', onError })
  const startedMs = Date.now()
  let id = 0
  const heard = (i: number): Submission => {
    const t = Date.now()
    const walkedM = ((t - startedMs) / 1_000) * METRES_A_SECOND
    const { lat, lng } = route!.at(20_000 + (i / pilgrims) * SPREAD_M + walkedM)
    return {
      ...{ id: `${startedMs}-${id++}`, userId: walkerId(i), kind: 'sync', entries: [], duplicateKey: '' },
      ...{ recordedMs: t, position: { t, lat, lng } },
    }
  }
  const everybody = Array.from({ length: pilgrims }, (_, i) => i)
  await kv.restore(0, everybody.map(heard), rules())
  let turn = 0
  let moving: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    turn = (turn + 1) % HEARD_S
    const now = everybody.filter((i) => i % HEARD_S === turn).map(heard)
    moving = moving.then(() => kv.restore(0, now, rules()))
  }, 1_000)
  return async () => {
    clearInterval(timer)
    await moving
    await kv.close()
  }
}

interface Watched {
  readonly requests: number
  readonly failed: number
  readonly seconds: number
  /** Bytes of an answer over HTTP/2, with TLS. */
  readonly received: number
  /** CPU microseconds a request. */
  readonly cpu: Cpu
}

interface Wanted {
  readonly caddy: CaddyServer
  readonly path: string
  readonly mode: 'since' | 'whole' | 'file'
  readonly processes: Readonly<Record<string, number>>
  /** CPU seconds a second that a process takes without viewers. */
  readonly idle?: Readonly<Record<string, number>>
}

/** Lets viewers look at the map. @throws Error when an answer is not a success */
async function watch({ caddy, path, mode, processes, idle = {} }: Wanted, scale: Scale): Promise<Watched> {
  const { viewers, seconds, pace } = sizeOf(scale)
  const script = join(import.meta.dir, '../load/viewers.ts')
  const args = [caddy.url, path, mode, viewers, seconds, pace].map(String)
  const child = Bun.spawn([...onCore(LOAD_CORE), process.execPath, script, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  if ((await lines.read()).value?.trim() !== 'ready') throw new Error('the viewers did not get the map')
  const used = () => Object.entries(processes).map(([name, pid]) => [name, cpuSeconds(pid)] as const)
  const before = new Map(used())
  await child.stdin.write('\n')
  await child.stdin.flush()
  const pauses = Array.from(
    { length: Math.max(2, Math.floor(seconds / EVERY_S)) },
    () => (EVERY_S * 1_000) / pace,
  )
  const wire = Promise.all(
    Array.from({ length: COUNTED }, () => wireBytes({ url: caddy.url, path, mode }, pauses)),
  )
  const ended = lines.read().then(({ value }) => ({ value, after: used() }))
  const [{ value, after }, each] = await Promise.all([ended, wire])
  const counted = JSON.parse(value ?? 'null') as Pick<Watched, 'requests' | 'failed' | 'seconds'>
  const cpu = after.map(([name, s]) => {
    const added = s - before.get(name)! - (idle[name] ?? 0) * counted.seconds
    return [name, (1e6 * added) / counted.requests] as const
  })
  await child.exited
  if (counted.failed > FAILED * counted.requests || counted.requests === 0)
    throw new Error(`${counted.failed} requests failed`)
  const received = each.reduce((sum, one) => sum + one.received, 0) / COUNTED
  return { ...counted, received, cpu: Object.fromEntries(cpu) }
}

/** The tests' viewers live a hundred times as fast. */
function sizeOf({ name }: Scale) {
  if (name === 'smoke') return { viewers: 20, pilgrims: 400, seconds: 30, pace: 100 }
  return { viewers: name === 'full' ? VIEWERS : VIEWERS / 5, pilgrims: PILGRIMS, seconds: 30, pace: 1 }
}

/** CPU seconds a second of what a process does for the crowd alone. */
async function idleCpu(pid: number, { name }: Scale): Promise<number> {
  const before = cpuSeconds(pid)
  const startedMs = performance.now()
  await Bun.sleep(name === 'smoke' ? 200 : 20_000)
  return (cpuSeconds(pid) - before) / ((performance.now() - startedMs) / 1_000)
}

/** Tracking behind Caddy with a crowd on the map, and another Caddy with an answer of the same size as a file. */
async function openMap(scale: Scale) {
  const [database, redis] = await Promise.all([startDatabase(), startStore('everysec')])
  const stopCrowd = await startCrowd(redis.url, sizeOf(scale).pilgrims)
  const tracking = await startPinned('tracking', {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    EVENT_ROUTE: ROUTE,
    EVENT_MAP_CROWD: '5',
  })
  const pages = join(await newDirectory('map-file'), 'pages')
  mkdirSync(pages)
  const env = { PRIMARY_HOST: 'localhost', ALIAS_HOST: '127.0.0.1', TRACKING_DISCOVERY: 'list' }
  const upstream = { TRACKING_UPSTREAM: `127.0.0.1:${tracking.port}`, PAGES_DIR: pages }
  const proxy = { caddyfile: join(ROOT, 'Caddyfile'), env: { ...env, ...upstream } }
  const [caddy, alone] = await Promise.all([startCaddy(proxy), startCaddy(proxy)])
  const encoded = async (query = '') => {
    const answer = await fetch(`${tracking.url}${MAP}${query}`, {
      headers: { 'Accept-Encoding': 'br' },
      decompress: false,
    })
    return answer.arrayBuffer()
  }
  const idle = { tracking: await idleCpu(tracking.pid, scale) }
  const whole = (await (await fetch(`${tracking.url}${MAP}`)).json()) as { data: { version: number } }
  const { version } = whole.data
  return {
    caddy,
    alone,
    tracking,
    idle,
    /** Writes what has changed since the begin as a file of the Caddy that has no service. */
    async writeFile(): Promise<void> {
      await Bun.write(join(pages, `${FILE}.br`), await encoded(`?since=${version}`))
      await Bun.write(join(pages, FILE), '{}')
    },
    async close() {
      await stopCrowd()
      await closeAll([caddy, alone, tracking, database, redis])
    },
  }
}

/** Bytes that a viewer receives in a minute. */
const bytes = ({ received, cpu }: Watched): Sample => ({
  figure: received * A_MINUTE,
  cpu,
})

export const viewersBytes: Row = {
  id: 'viewers',
  title: '10,000 viewers of the map while 20,000 pilgrims walk: bytes a viewer and minute',
  unit: 'bytes',
  rounds: 1,
  async open(scale) {
    const { caddy, alone, tracking, idle, writeFile, close } = await openMap(scale)
    const behind = { caddy, path: MAP, idle, processes: { Caddy: caddy.pid, tracking: tracking.pid } }
    return {
      contenders: [
        {
          name: 'what has changed, tracking behind Caddy',
          role: 'ours',
          measure: async () => bytes(await watch({ ...behind, mode: 'since' }, scale)),
        },
        {
          name: 'the whole map each time',
          role: 'peer',
          measure: async () => bytes(await watch({ ...behind, mode: 'whole' }, scale)),
        },
        {
          name: 'Caddy alone, a file of this size',
          role: 'limit',
          async measure() {
            await writeFile()
            const processes = { Caddy: alone.pid }
            return bytes(await watch({ caddy: alone, path: FILE, mode: 'file', processes }, scale))
          },
        },
      ],
      goals: [{ of: null, atMost: 6_000 }],
      close,
    }
  },
}

export const viewersCpu: Row = {
  id: 'viewers-cpu',
  title: '10,000 viewers of the map: CPU of tracking a viewer and minute, beside that of Caddy',
  unit: 'µs',
  rounds: 1,
  // The same code as the row before.
  untested: true,
  async open(scale) {
    const { caddy, tracking, idle, close } = await openMap(scale)
    const processes = { Caddy: caddy.pid, tracking: tracking.pid }
    let last: Cpu = {}
    return {
      contenders: [
        {
          name: 'tracking',
          role: 'ours',
          async measure() {
            last = (await watch({ caddy, path: MAP, mode: 'since', processes, idle }, scale)).cpu
            return last.tracking! * A_MINUTE
          },
        },
        { name: 'Caddy with TLS', role: 'peer', measure: async () => last.Caddy! * A_MINUTE },
      ],
      goals: [{ of: 'Caddy with TLS', atMost: 0.05 }],
      close,
    }
  },
}
