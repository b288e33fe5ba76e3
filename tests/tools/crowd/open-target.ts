/** The service that the crowd sends to: a running one, or one that the demo starts. */
import type { Environment } from '#shared/runtime/config/config.ts'
import { createClient, type Fetch } from '#shared/client/index.ts'
import { ReplayFault, trustFor } from '../replay/phone.ts'
import { lineSettings, type LineServer, startLineServer } from '#tests/helpers/line-server.ts'
import type { LiveLine } from '#tests/helpers/live-line.ts'
import type { Options } from './options.ts'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { ROUTE_FILE } from './way.ts'

/** The demo's own service: the embedded run in its own process, like `bun start`, with new data. */
interface OwnService {
  readonly url: string
  readonly ca: string
  /** Token of the tier that reads figures. */
  readonly token: string
  readonly ownerToken: string
  /** Seconds between two flushes. */
  readonly flushSeconds: number
  /** The welcome text of `bun start`. */
  readonly welcome: string
  /** The directory of data that stay after `stop`; null: they are deleted. */
  readonly keptIn: string | null
  /** Resolves when the process has ended, by itself or by `stop`. */
  readonly ended: Promise<number>
  /** Stops the process, waits for its end, and removes temporary data. */
  stop(): Promise<void>
}

/** Settings that this command passes on. It never uses servers named by other settings. */
const PASSED = [
  'PATH',
  'HOME',
  'TMPDIR',
  'EVENT_PORT',
  'EVENT_HOST',
  'EVENT_PUBLIC_URL',
  'EVENT_NAME',
  'EVENT_ROUTE',
].concat([
  'EVENT_ADMIN_TOKEN',
  'EVENT_MANAGER_TOKEN',
  'EVENT_VOLUNTEER_TOKEN',
  'EVENT_FLUSH_SECONDS',
  'EVENT_LIMIT_ADMIN',
  'EVENT_MAP_CROWD',
])

/** The file that marks a data directory as a demo's. */
const MARK = 'demo.json'
const PROGRAM = join(import.meta.dir, '../../../proxy/local.ts')
const AS_VERIFIED = join(import.meta.dir, 'as-verified.ts')
/** Time to stop for a service whose data is deleted. */
const GRACE_MS = 10_000
/** All phones of a fast crowd share one address, and send faster than real ones. */
const LIMIT = '1000000'

/**
 * Starts the service.
 * @param line settings of the stand-in for LINE
 * @throws ReplayFault if the data directory is not a demo's, or the service does not start
 */
async function startOwnService(
  env: Environment,
  line: Environment,
  signal: AbortSignal,
): Promise<OwnService> {
  const kept = env.EVENT_DATA_DIR ? claim(resolve(env.EVENT_DATA_DIR)) : null
  const dataDir = kept ?? mkdtempSync(join(tmpdir(), 'event-demo-'))
  const remove = () => {
    if (kept === null) rmSync(dataDir, { recursive: true, force: true })
  }
  const passed = Object.fromEntries(PASSED.flatMap((name) => (env[name] ? [[name, env[name]]] : [])))
  const settings: Environment = { ...defaults(env), ...passed, ...line, EVENT_DATA_DIR: dataDir }
  const flushSeconds = Number(settings.EVENT_FLUSH_SECONDS)
  const child = Bun.spawn([process.execPath, '--preload', AS_VERIFIED, PROGRAM], {
    // Not the project's directory: its .env belongs to another installation.
    cwd: dataDir,
    env: settings,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const stop = async () => {
    child.kill('SIGTERM')
    // Temporary data need not be stored to the last point.
    const killing = kept === null ? setTimeout(() => child.kill('SIGKILL'), GRACE_MS) : undefined
    await child.exited
    clearTimeout(killing)
    remove()
  }
  signal.addEventListener('abort', () => child.kill('SIGTERM'))
  const errors = readLog(child.stderr)
  const welcome = await readWelcome(child.stdout)
  const url = /listens on (https:\S+)/.exec(welcome)?.[1]
  if (url === undefined) {
    await stop()
    if (signal.aborted) throw new ReplayFault('Stopped.')
    throw new ReplayFault(`The service did not start.\n${(await errors).trim()}`)
  }
  const tokens = tokensOf(dataDir)
  const token = env.EVENT_VOLUNTEER_TOKEN || tokens.volunteer
  // The first of several tokens, without its name.
  const ownerToken = env.EVENT_ADMIN_TOKEN?.split(',')[0]?.replace(/^[^:]{0,15}:/, '') || tokens.owner
  const ca = readFileSync(join(dataDir, 'tls/cert.pem'), 'utf8')
  return { url, ca, token, ownerToken, flushSeconds, welcome, keptIn: kept, ended: child.exited, stop }
}

const defaults = (env: Environment): Environment => ({
  EVENT_NAME: '白沙屯媽祖進香（示範）',
  EVENT_ROUTE: ROUTE_FILE,
  // Port 0: any free port, which is unknown beforehand.
  ...(env.EVENT_PORT === '0' ? {} : { EVENT_PUBLIC_URL: `https://localhost:${env.EVENT_PORT || '8443'}` }),
  EVENT_FLUSH_SECONDS: '5',
  // As in production: the app says that the map shows nobody alone.
  EVENT_MAP_CROWD: '5',
  EVENT_LIMIT_CHECKIN: LIMIT,
  EVENT_LIMIT_SYNC: LIMIT,
  EVENT_LIMIT_SURVEY: LIMIT,
  EVENT_LIMIT_USER_WRITE: LIMIT,
  EVENT_LIMIT_ADDRESS_WRITE: LIMIT,
  EVENT_LIMIT_ADDRESS: LIMIT,
})

/** Marks an empty directory as a demo's, or expects the mark. */
function claim(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const mark = join(dataDir, MARK)
  if (existsSync(mark)) return dataDir
  if (readdirSync(dataDir).length > 0)
    throw new ReplayFault(
      `EVENT_DATA_DIR (${dataDir}) holds other data. Name an empty directory, or unset it.`,
    )
  writeFileSync(mark, '{"demo": true}\n')
  return dataDir
}

const tokensOf = (dataDir: string) =>
  JSON.parse(readFileSync(join(dataDir, 'tokens.json'), 'utf8')) as { volunteer: string; owner: string }

/**
 * Reads the output until the welcome is complete, then discards the rest so that the process never blocks.
 */
async function readWelcome(output: ReadableStream<Uint8Array>): Promise<string> {
  const reader = output.getReader()
  const decoder = new TextDecoder()
  let seen = ''
  while (!seen.includes('Ctrl-C')) {
    const { done, value } = await reader.read()
    if (done) return seen
    seen += decoder.decode(value, { stream: true })
  }
  void (async () => {
    while (!(await reader.read()).done);
  })()
  return seen
}

/** The end of the log, which explains a failed start. */
async function readLog(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let seen = ''
  for await (const chunk of output) seen = (seen + decoder.decode(chunk, { stream: true })).slice(-4_000)
  return seen
}

export interface Target {
  readonly url: string
  readonly fetch: Fetch
  /** An operator's token; null: the service's figures are not displayed. */
  readonly token: string | null
  /** Signs followers' messages to the bot; null: LINE is not used. */
  readonly lineSecret: string | null
  /** The stand-in that the demo has started. */
  readonly line: LineServer | null
  readonly own: OwnService | null
}

/**
 * Opens the target.
 * @param departureMs start of the own service's event
 * @throws ReplayFault if nothing responds, the service rejects the token or simulated people, or it does not
 *   start
 */
export async function openTarget(
  options: Options,
  env: Environment,
  departureMs: number,
  line: LiveLine,
  signal: AbortSignal,
): Promise<Target> {
  return options.url === null
    ? openOwnService(env, departureMs, line, signal)
    : openRunningService({ ...options, url: options.url }, env)
}

async function openRunningService(options: Options & { url: string }, env: Environment): Promise<Target> {
  const tls = await trustFor(options, env.EVENT_DATA_DIR || './data')
  const target = {
    url: options.url,
    fetch: (url: string, init: RequestInit) => fetch(url, { ...init, tls } as RequestInit),
    token: options.token ?? (env.EVENT_VOLUNTEER_TOKEN || null),
    lineSecret: env.LINE_CHANNEL_SECRET || null,
    line: null,
    own: null,
  }
  const { token } = target
  const client = createClient({
    baseUrl: options.url,
    fetch: target.fetch,
    ...(token === null ? {} : { token }),
  })
  const event = await client.readEventConfig()
  if (!event.ok)
    throw new ReplayFault(`${options.url}: ${event.error.message} Check --url, --ca and the network.`)
  if (event.data.identity === 'line')
    throw new ReplayFault(
      `${options.url} takes LINE's ID tokens only (EVENT_IDENTITY=line); an invented crowd has none.`,
    )
  if (event.data.status === 'ended') throw new ReplayFault(`The event at ${options.url} has ended.`)
  const role = token === null ? null : await client.readRole()
  if (role?.ok === false) throw new ReplayFault(`--token: ${role.error.message}`)
  return target
}

/** Like an owner in the console. */
async function setBeginning({ url, ca, ownerToken }: OwnService, departureMs: number): Promise<void> {
  const send: typeof fetch = Object.assign(
    (given: Parameters<typeof fetch>[0], init?: RequestInit) =>
      fetch(given, { ...init, tls: { ca } } as RequestInit),
    { preconnect: fetch.preconnect },
  )
  const client = createClient({ baseUrl: url, fetch: send, token: ownerToken })
  const read = await client.readEventSettings()
  if (!read.ok) throw new ReplayFault(read.error.message)
  const { version, name } = read.data
  const starts_at = new Date(departureMs).toISOString()
  const answer = await client.setEventName({ ...name.value, starts_at, version })
  if (!answer.ok) throw new ReplayFault(answer.error.message)
}

async function openOwnService(
  env: Environment,
  departureMs: number,
  line: LiveLine,
  signal: AbortSignal,
): Promise<Target> {
  line.note('Starting a service with new data …')
  const address = env.EVENT_PUBLIC_URL || `https://localhost:${env.EVENT_PORT || '8443'}`
  const platform = startLineServer()
  platform.webhook = `${address}/api/event/webhook`
  const secret = crypto.randomUUID()
  const settings = {
    ...lineSettings(platform),
    // The service may be reachable by a network: nobody else there may sign for LINE.
    LINE_CHANNEL_SECRET: secret,
  }
  try {
    const own = await startOwnService(env, settings, signal)
    await setBeginning(own, departureMs)
    line.note(own.welcome)
    return {
      url: own.url,
      fetch: (url, init) => fetch(url, { ...init, tls: { ca: own.ca } } as RequestInit),
      token: own.token,
      lineSecret: secret,
      line: platform,
      own,
    }
  } catch (error) {
    await platform.stop()
    throw error
  }
}
