/**
 * The embedded run: all six services in one process, behind TLS. The drivers are embedded too, unless DATABASE_URL,
 * REDIS_URL, NATS_URL or OBJECTS_URL are set.
 */
import { machineNow } from '#shared/runtime/clock.ts'
import { type Config, environment, type Environment, readConfig } from '#shared/runtime/config/config.ts'
import type { Service, ServiceContext } from '#shared/service/context.ts'
import type { ServiceName } from '#shared/contracts/endpoint.ts'
import type { Database } from '#shared/stores/db/db.ts'
import { migrate, migrateDatabase } from '#shared/stores/db/migrate.ts'
import { withBrowserHeaders } from '#shared/service/http/headers.ts'
import { answerUnexpected } from '#shared/service/http/answer-errors.ts'
import { serviceOf } from '#shared/service/http/routes.ts'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { startHeartbeat } from '#shared/service/heartbeat.ts'
import { createLog, errorFields, type Log, describeError } from '#shared/runtime/log.ts'
import {
  contextOf,
  drain,
  openPorts,
  readSettings,
  stopSignal,
  watchUncaughtErrors,
} from '#shared/service/service.ts'
import { startTraces } from '#shared/runtime/traces.ts'
import type { Acting } from '#shared/service/security/audit-log.ts'
import { withInstallation } from '#services/admin/backup/command.ts'
import { clearRehearsal, expectRehearsal, readContents } from '#services/admin/reset.ts'
import { createAdmin } from '#services/admin/app.ts'
import { openBackupSocket } from '#services/admin/backup/backup-socket.ts'
import { createFeedbackMedia } from '#services/feedback-media/app.ts'
import { createLineBot } from '#services/line-bot/app.ts'
import { createScheduler } from '#services/scheduler/app.ts'
import { createSurveyProfile } from '#services/survey-profile/app.ts'
import { createTracking } from '#services/tracking/app.ts'
import { openCertificate, listen, reserveDirectoryAndPort } from './local/listen.ts'
import { mayBePage, pageServer } from './local/serve-pages.ts'
import { isForPeople, NOT_FOUND } from './pages/pages.ts'
import { openTokens, TIERS } from './local/tokens.ts'
import { reachability, urlOf } from './local/welcome.ts'

const SERVICES: Record<ServiceName, (context: ServiceContext) => Service> = {
  tracking: createTracking,
  'survey-profile': createSurveyProfile,
  'feedback-media': createFeedbackMedia,
  admin: createAdmin,
  'line-bot': createLineBot,
  scheduler: createScheduler,
}

/** The router parses the path of a URL wrongly when its host is shorter. */
const SHORTEST_HOST = 3
const ORIGIN = 'https://localhost'

/** A URL that needs no parsing: its host is long enough, and its path has no dots or escapes. */
const PLAIN_URL = /^https:\/\/[\w.:[\]-]{3,}(\/[\w/-]*)(?:\?|$)/

/** Adds a host to a request without a Host header, whose URL is only a path. */
function withHost(request: Request): Request {
  if (URL.canParse(request.url) && new URL(request.url).host.length >= SHORTEST_HOST) return request
  const { pathname, search } = new URL(request.url, ORIGIN)
  return new Request(`${ORIGIN}${pathname}${search}`, request)
}

const dispatchTo =
  (services: ReadonlyMap<ServiceName, Service>, servePage: ReturnType<typeof pageServer>) =>
  async (given: Request): Promise<Response> => {
    const plainPath = PLAIN_URL.exec(given.url)?.[1]
    const request = plainPath === undefined ? withHost(given) : given
    const path = plainPath ?? new URL(request.url).pathname
    const page = mayBePage(path) ? await servePage(request, path) : null
    if (page !== null) return withBrowserHeaders(page)
    if (isForPeople(request, path)) {
      const { body, headers } = (await servePage(request, NOT_FOUND))!
      return withBrowserHeaders(new Response(body, { status: 404, headers }))
    }
    const service = services.get(serviceOf(path, request.method))!
    return withBrowserHeaders(await service.fetch(request))
  }

/** Migrations of a database server run without a timeout, on a connection of their own. */
const migrating = (url: string) => (db: Database) => (url === '' ? migrateDatabase(db) : migrate(url))

/**
 * Starts the embedded run.
 * @throws ConfigError; when another program uses the port, or another process locks the data directory for 30 s
 */
async function startLocal(env: Environment, log: Log) {
  // Invalid settings are reported before waiting for the lock.
  const { dataDir, host, port } = readSettings(env, log, true)
  const unlock = await reserveDirectoryAndPort({ dataDir, host, port }, log)
  const tokens = openTokens(dataDir, env)
  const config = readConfig({ ...env, ...tokens.env }, true)
  const stopTraces = await startTraces(config.traces, 'embedded', log)
  const ports = await openPorts(config, log, machineNow, migrating(config.databaseUrl))
  let addressOf = (_request: Request): string => 'unknown'
  let idleAfter: ServiceContext['idleAfter'] = () => undefined
  const stopping = new AbortController()
  const contexts = new Map<ServiceName, ServiceContext>()
  const services = new Map<ServiceName, Service>()
  const { promise: resetAsked, resolve: askForReset } = Promise.withResolvers<Acting>()
  const isAlone = config.databaseUrl === '' && config.redisUrl === ''
  for (const [name, create] of Object.entries(SERVICES) as [ServiceName, (typeof SERVICES)[ServiceName]][]) {
    const context = contextOf(ports, name, log, {
      tls: true,
      stopping: stopping.signal,
      clearAndRestart: isAlone ? askForReset : null,
      addressOf: (request) => addressOf(request),
      idleAfter: (request, seconds) => idleAfter(request, seconds),
    })
    contexts.set(name, context)
    services.set(name, create(context))
  }
  const tls = await openCertificate(dataDir)
  for (const service of services.values()) await service.start()
  const stopHeartbeat = startHeartbeat(ports, [...services.keys()], port)

  const server = listen({
    address: { host, port },
    tls,
    fetch: dispatchTo(services, pageServer(config, ports.event)),
    error: (error) => withBrowserHeaders(answerUnexpected(log, error)),
  })
  const closeBackupSocket = openBackupSocket(ports, log)
  addressOf = (request) => server.requestIP(request)?.address ?? 'unknown'
  idleAfter = (request, seconds) => server.timeout(request, seconds)

  return {
    url: urlOf(host, server.port!),
    /** A sentence: how phones reach it, or what to set so that they can. */
    reachability: reachability(host, server.port!, config.identity === 'open'),
    dataDir,
    tokens: tokens.shown,
    config,
    /** The port again, where any free one was taken. */
    port: server.port!,
    /** Resolves when an owner has asked for the data of a rehearsal to be cleared. */
    resetAsked,
    async stop(): Promise<void> {
      stopping.abort()
      stopHeartbeat()
      await drain(server)
      await closeBackupSocket()
      for (const service of services.values()) await service.stop()
      for (const context of contexts.values()) await context.outbox.stop()
      await ports.close()
      await stopTraces()
      unlock()
    },
  }
}

/** If the reset fails, the service keeps running and the reset can be requested again. */
async function reset(config: Config, actor: Acting, log: Log): Promise<void> {
  try {
    await withInstallation(config, async (installation) => {
      await expectRehearsal(installation)
      await clearRehearsal(installation, await readContents(installation), actor)
    })
    log.info('the rehearsal is cleared', {})
  } catch (error) {
    log.error('the rehearsal could not be cleared', errorFields(error))
  }
}

/** @param isTerminal else the output may be kept in a log, which holds no token */
const welcome = (
  { url, reachability: reach, dataDir, tokens }: Awaited<ReturnType<typeof startLocal>>,
  isTerminal: boolean,
): string => `
  The pilgrimage event tracking service listens on ${url}
  ${reach}
  Pages: ${url}/ the public map, ${url}/walk/ the pilgrims' app, ${url}/admin/ the operators' console
  API documentation: ${url}/api/event/docs
  Data directory: ${dataDir}
  Self-signed certificate: ${dataDir}/tls/cert.pem

  Admin tokens (header X-Admin-Token) are stored in ${dataDir}/tokens.json${
    isTerminal
      ? `:
    ${TIERS.map((tier) => tier.padEnd(11) + tokens[tier]).join('\n    ')}`
      : ''
  }

  Try the app in a browser: ${url}/walk/ (it shows one warning about the certificate). Or send a check-in with curl:
    curl --cacert ${dataDir}/tls/cert.pem ${url}/api/event/checkin -H 'Content-Type: application/json' -d '{"user_id":"me","lat":24.15,"lng":120.67}'

  Ctrl-C stops it.
`

const USAGE = `Starts all six services in one process, over HTTPS on https://localhost:8443, and keeps their data in ./data.

  bun start [--help]

Settings come from the environment or from .env: EVENT_PORT, EVENT_HOST, EVENT_DATA_DIR and others (services/REFERENCE.md).
Ctrl-C stops it.`

if (import.meta.main) {
  readCommandLine(USAGE, {})
  const stopping = stopSignal()
  try {
    const log = createLog()
    watchUncaughtErrors(log)
    let local = await startLocal(environment(), log)
    console.log(welcome(local, process.stdout.isTTY))
    for (;;) {
      const cause = await Promise.race([stopping, local.resetAsked])
      console.log('Stopping. Requests in progress are answered first.')
      await local.stop()
      if (typeof cause === 'string') process.exit(0)
      await reset(local.config, cause, log)
      local = await startLocal({ ...environment(), EVENT_PORT: String(local.port) }, log)
      console.log(`The service listens on ${local.url} again.`)
    }
  } catch (error) {
    console.error(describeError(error))
    process.exit(1)
  }
}
