/**
 * Measures viewers of the map in two arrangements, one after the other: Caddy serves files written by
 * tracking, and Caddy forwards each request to tracking.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { newDirectory, type Server } from '#tests/helpers/process.ts'
import type { CaddyServer } from '#tests/helpers/servers.ts'
import { until } from '#tests/helpers/wait.ts'
import { LOAD_CORE, onCore } from './load.ts'
import type { Cpu, Scale } from './measure.ts'
import { startProxy } from './rows/caddy.ts'
import { closeAll, cpuSeconds, startDatabase, startPinned, startStore } from './measured-processes.ts'
import { readRoute } from '#shared/runtime/config/read-route.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { onError, rules, sync } from '#tests/kv/drivers.ts'
import { walkerId } from '#tests/tools/scale/fill.ts'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { type AddressInfo, connect, createServer } from 'node:net'
import { brotliDecompressSync } from 'node:zlib'

/** A crowd that walks along the demo's route, only in the kv, so that nothing but the map uses CPU. */
const ROUTE = join(import.meta.dir, '../crowd/route.geojson')

/** Length of the procession; everyone walks at the same speed. */
const SPREAD_M = 12_000
const METRES_A_SECOND = 1.2
/** Interval at which each pilgrim sends. */
const HEARD_S = 30

/** Places the crowd and moves it. @returns a function that stops it */
async function startCrowd(redisUrl: string, pilgrims: number): Promise<() => Promise<void>> {
  const { route } = readRoute(ROUTE, [])
  const kv = await openKv({ url: redisUrl, partitions: 1, path: '', onError })
  const startedMs = Date.now()
  const heard = (i: number) => {
    const t = Date.now()
    const walkedM = ((t - startedMs) / 1_000) * METRES_A_SECOND
    const { lat, lng } = route!.at(20_000 + (i / pilgrims) * SPREAD_M + walkedM)
    return sync(walkerId(i), [], { recordedMs: t, position: { t, lat, lng } })
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

/** Headers of Chromium; HTTP/2 sends repeated ones only once. */
const HEADERS = {
  accept: '*/*',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'zh-TW,zh;q=0.9,en;q=0.8',
  'user-agent':
    'Mozilla/5.0 (Linux; Android 14; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
}

interface Answer {
  readonly status: number
  readonly encoding: string
  readonly body: Buffer
}

/** Traffic of an HTTP/2 viewer on the wire, including TLS. */
interface WireBytes {
  /** Bytes of a response, and of a request. */
  readonly received: number
  readonly sent: number
}

/** Forwards connections to a local server, and counts their bytes. */
async function startCounter(port: number) {
  const counted = { received: 0, sent: 0 }
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    client.on('data', (bytes: Buffer) => void (counted.sent += bytes.length))
    upstream.on('data', (bytes: Buffer) => void (counted.received += bytes.length))
    client.pipe(upstream).pipe(client)
    // Both sides end with the measurement.
    for (const socket of [client, upstream]) socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { counted, port: (server.address() as AddressInfo).port, server }
}

function get(session: ClientHttp2Session, path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = session.request({ ':path': path, ...HEADERS })
    const parts: Buffer[] = []
    let status = 0
    let encoding = ''
    request.on('response', (headers) => {
      status = headers[':status'] ?? 0
      encoding = headers['content-encoding'] ?? ''
    })
    request.on('data', (bytes: Buffer) => parts.push(bytes))
    request.on('end', () => resolve({ status, encoding, body: Buffer.concat(parts) }))
    request.on('error', reject)
    request.end()
  })
}

function versionOf({ status, encoding, body }: Answer): number {
  if (status !== 200) throw new Error(`the map was answered ${status}`)
  const text = encoding === 'br' ? brotliDecompressSync(body) : body
  return (JSON.parse(text.toString()) as { data: { version: number } }).data.version
}

/**
 * Runs one viewer of the map.
 * @param url URL of Caddy
 * @param pauses pauses between responses, milliseconds
 */
async function wireBytes(
  { url, path }: { readonly url: string; readonly path: string },
  pauses: readonly number[],
): Promise<WireBytes> {
  const counter = await startCounter(Number(new URL(url).port))
  const session = connectHttp2(`https://localhost:${counter.port}`, { rejectUnauthorized: false })
  // The first response is the whole map, and follows the handshake.
  let answer = await get(session, path)
  const { counted } = counter
  const before = { ...counted }
  for (const pause of pauses) {
    await Bun.sleep(pause)
    answer = await get(session, `${path}?since=${versionOf(answer)}`)
  }
  session.destroy()
  counter.server.close()
  return {
    received: (counted.received - before.received) / pauses.length,
    sent: (counted.sent - before.sent) / pauses.length,
  }
}

const VIEWERS = 10_000
const PILGRIMS = 20_000
/**
 * Tolerated share of failures. On a busy machine Caddy skips a replica for two seconds if it does not accept
 * a connection within half a second. The page then keeps its data and retries, as these viewers do.
 */
const FAILED = 0.05
/** Number of viewers whose bytes are counted, on HTTP/2. */
const COUNTED = 10
/** Number of versions for which there are delta files (services/tracking/map/map-snapshots.ts). */
const FILED = 12
const FILED_MS = 150_000

const MAP = '/api/event/map'

interface Counted {
  readonly requests: number
  readonly failed: number
  readonly seconds: number
  /** Bytes of a response over HTTP/2, with TLS. */
  readonly received: number
}

export interface Watched extends Counted {
  /**
   * CPU microseconds per request, minus tracking's work for the crowd alone, but including the writing of
   * files.
   */
  readonly cpu: Cpu
}

/** With the total CPU seconds of the processes. */
interface Used extends Counted {
  readonly caddyS: number
  readonly trackingS: number
}

export interface Arrangements {
  readonly files: Watched
  readonly proxied: Watched
}

/** In the tests, viewers poll a hundred times as often. */
function sizeOf({ name }: Scale) {
  if (name === 'smoke') return { viewers: 20, pilgrims: 400, seconds: 30, pace: 100, idleMs: 200 }
  return {
    viewers: name === 'full' ? VIEWERS : VIEWERS / 5,
    pilgrims: PILGRIMS,
    seconds: 30,
    pace: 1,
    idleMs: 20_000,
  }
}

type Size = ReturnType<typeof sizeOf>

/** @param everyS mean time between two requests of a viewer */
export async function measureViewers(scale: Scale, everyS: number): Promise<Arrangements> {
  const size = sizeOf(scale)
  const [database, redis] = await Promise.all([startDatabase(), startStore('everysec')])
  const stopCrowd = await startCrowd(redis.url, size.pilgrims)
  const env = { DATABASE_URL: database.url, REDIS_URL: redis.url, EVENT_ROUTE: ROUTE, EVENT_MAP_CROWD: '5' }
  try {
    const [none, dir] = await Promise.all([newDirectory('no-map'), newDirectory('map')])
    let idle = 0
    const proxied = await arranged(env, none, async (caddy, tracking) => {
      const used = await watch({ caddy, tracking, everyS, ready: async () => undefined }, size)
      // Measured late, because a process that has just started is still compiling.
      idle = await idleCpu(tracking.pid, size)
      return used
    })
    const files = await arranged({ ...env, EVENT_MAP_DIR: dir }, dir, (caddy, tracking) =>
      watch({ caddy, tracking, everyS, ready: () => filed(dir, scale) }, size),
    )
    return { files: watchedOf(files, idle), proxied: watchedOf(proxied, idle) }
  } finally {
    await stopCrowd()
    await closeAll([database, redis])
  }
}

/** Runs one arrangement, and stops it. */
async function arranged(
  env: Record<string, string>,
  mapDir: string,
  measure: (caddy: CaddyServer, tracking: Server) => Promise<Used>,
): Promise<Used> {
  const tracking = await startPinned('tracking', env)
  const caddy = await startProxy([tracking], undefined, { MAP_DIR: mapDir })
  try {
    return await measure(caddy, tracking)
  } finally {
    await closeAll([caddy, tracking])
  }
}

/** Resolves when tracking writes as many files as in steady state. */
async function filed(dir: string, { name }: Scale): Promise<void> {
  const deltas = () => {
    const latest = readdirSync(dir)
      .filter((entry) => entry.startsWith('made-'))
      .sort()
      .at(-1)
    return latest === undefined
      ? 0
      : readdirSync(join(dir, latest)).filter((file) => /^map\d+\.json$/.test(file)).length
  }
  const least = name === 'smoke' ? 1 : FILED
  await until(() => deltas() >= least, 'files of all deltas', { timeoutMs: FILED_MS, everyMs: 500 })
}

/** CPU seconds per second that tracking uses for the crowd alone. */
async function idleCpu(pid: number, { idleMs }: Size): Promise<number> {
  const before = cpuSeconds(pid)
  const startedMs = performance.now()
  await Bun.sleep(idleMs)
  return (cpuSeconds(pid) - before) / ((performance.now() - startedMs) / 1_000)
}

interface Wanted {
  readonly caddy: CaddyServer
  readonly tracking: Server
  readonly everyS: number
  /** Waits, with the viewers polling, until counting may start. */
  readonly ready: () => Promise<void>
}

/** Runs viewers of the map. @throws Error if too many responses are failures */
async function watch({ caddy, tracking, everyS, ready }: Wanted, size: Size): Promise<Used> {
  const { viewers, seconds, pace } = size
  const script = join(import.meta.dir, 'load/viewers.ts')
  const args = [caddy.url, MAP, viewers, seconds, pace].map(String)
  const child = Bun.spawn([...onCore(LOAD_CORE), process.execPath, script, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  if ((await lines.read()).value?.trim() !== 'ready') throw new Error('the viewers did not get the map')
  await ready()
  const used = () => ({ Caddy: cpuSeconds(caddy.pid), tracking: cpuSeconds(tracking.pid) })
  const before = used()
  await child.stdin.write('\n')
  await child.stdin.flush()
  const pauses = Array.from(
    { length: Math.max(2, Math.floor(seconds / everyS)) },
    () => (everyS * 1_000) / pace,
  )
  const wire = Promise.all(
    Array.from({ length: COUNTED }, () => wireBytes({ url: caddy.url, path: MAP }, pauses)),
  )
  const ended = lines.read().then(({ value }) => ({ value, after: used() }))
  const [{ value, after }, each] = await Promise.all([ended, wire])
  const counted = JSON.parse(value ?? 'null') as Omit<Counted, 'received'>
  await child.exited
  if (counted.failed > FAILED * counted.requests || counted.requests === 0)
    throw new Error(`${counted.failed} of ${counted.requests} requests failed`)
  return {
    ...counted,
    received: each.reduce((sum, one) => sum + one.received, 0) / COUNTED,
    caddyS: after.Caddy - before.Caddy,
    trackingS: after.tracking - before.tracking,
  }
}

/** @param idle CPU seconds per second that tracking uses without viewers and files */
function watchedOf({ caddyS, trackingS, ...used }: Used, idle: number): Watched {
  const aRequest = (s: number) => (1e6 * s) / used.requests
  return { ...used, cpu: { Caddy: aRequest(caddyS), tracking: aRequest(trackingS - idle * used.seconds) } }
}
