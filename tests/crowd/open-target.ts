/** Where the crowd sends to: a service that runs, or one that the demo starts. */
import type { Environment } from '#shared/runtime/config/config.ts'
import { createClient, type Fetch } from '#shared/client/index.ts'
import { ReplayFault } from '../replay/replay-error.ts'
import { trustFor } from '../replay/trusted-certificates.ts'
import { type LinePlatform, startLinePlatform } from './line-platform.ts'
import type { LiveLine } from './live-line.ts'
import type { Options } from './options.ts'
import { type OwnService, startOwnService } from './own-service.ts'

export interface Target {
  readonly url: string
  readonly fetch: Fetch
  /** An operator's token; null: the service's figures are not shown. */
  readonly token: string | null
  /** Signs what followers send to the bot; null: nobody uses LINE. */
  readonly lineSecret: string | null
  /** What the demo has started. */
  readonly line: LinePlatform | null
  readonly own: OwnService | null
}

/**
 * Opens it.
 * @param departureMs when the own service's event begins
 * @throws ReplayFault if nothing answers, the service refuses the token or invented people, or does not start
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

async function openOwnService(
  env: Environment,
  departureMs: number,
  line: LiveLine,
  signal: AbortSignal,
): Promise<Target> {
  line.note('Starting a service with new data …')
  const address = env.EVENT_PUBLIC_URL || `https://localhost:${env.EVENT_PORT || '8443'}`
  const platform = startLinePlatform(`${address}/api/event/webhook`)
  const settings = {
    EVENT_STARTS_AT: new Date(departureMs).toISOString(),
    LINE_CHANNEL_SECRET: platform.secret,
    LINE_CHANNEL_ACCESS_TOKEN: platform.token,
    LINE_API_BASE_URL: platform.url,
    LINE_DATA_API_BASE_URL: platform.url,
  }
  try {
    const own = await startOwnService(env, settings, signal)
    line.note(own.welcome)
    return {
      url: own.url,
      fetch: (url, init) => fetch(url, { ...init, tls: { ca: own.ca } } as RequestInit),
      token: own.token,
      lineSecret: platform.secret,
      line: platform,
      own,
    }
  } catch (error) {
    await platform.stop()
    throw error
  }
}
