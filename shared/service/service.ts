/** Runs one service in one process: opens its ports, serves its routes, and stops cleanly. */
import { createAuth, withTokenUse } from '#shared/service/security/admin-auth.ts'
import { followTokens } from '#shared/service/security/made-tokens.ts'
import { openBus } from '#shared/stores/bus/open-bus.ts'
import { type MachineClock, machineNow, stopwatch } from '#shared/runtime/clock.ts'
import { within } from '#shared/runtime/deadline.ts'
import {
  type Config,
  type Environment,
  environment,
  readConfig,
  unknownSettings,
} from '#shared/runtime/config/config.ts'
import { followEvent } from '#shared/pilgrims/event-settings.ts'
import type { Service, ServiceContext } from './context.ts'
import { type Database, isDatabaseUnavailable } from '#shared/stores/db/db.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { expectSchema } from '#shared/stores/db/migrate.ts'
import { ALARM_LIMIT, createAddressLimit } from '#shared/service/security/caller-and-address-limits.ts'
import { createKeptLimit, createServiceLimits } from './security/request-prices.ts'
import { startHeartbeat } from './heartbeat.ts'
import { createIdentity } from '#shared/service/security/pilgrim-identity.ts'
import { createPseudonyms } from '#shared/service/security/pseudonyms.ts'
import { answerUnexpected } from '#shared/service/http/answer-errors.ts'
import { clientNetwork } from '#shared/service/http/client-address.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { createLog, errorFields, type Log } from '#shared/runtime/log.ts'
import { setPrivateUmask } from '#shared/runtime/private-files.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { startTraces } from '#shared/runtime/traces.ts'
import { openObjects } from '#shared/stores/objects/open-objects.ts'
import { createOutbox } from '#shared/stores/bus/outbox.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import type { Server } from 'bun'
import { join } from 'node:path'

/** Longer than the two minutes that a proxy keeps idle connections: a request on a closing connection would be lost. */
const IDLE_S = 255
/** Maximum wait at stop for clients that have not finished their requests; phones send them again. */
const DRAIN_MS = 25_000
/**
 * How long a stopping process delays its answers before it stops listening. A proxy that sends each request to the
 * replica with the fewest open requests then uses the others, so that no request meets a closing connection.
 */
const HOLD_MS = 500

export type Ports = Pick<
  ServiceContext,
  | 'config'
  | 'db'
  | 'kv'
  | 'bus'
  | 'objects'
  | 'auth'
  | 'calendar'
  | 'checkIdentity'
  | 'pseudonyms'
  | 'event'
  | 'alarms'
  | 'kept'
  | 'now'
  | 'stopwatch'
> & {
  /** The limits of a service; calls with the same name share them. */
  limitsOf(service: string): Pick<ServiceContext, 'addresses' | 'reads'>
  close(): Promise<void>
}

/**
 * Opens the configured stores.
 * @param prepare prepares the database, for example migrates it
 * @param statementMs statement timeout, as in `openDatabase`
 */
export async function openStores(
  config: Config,
  log: Log,
  prepare: (db: Database) => Promise<void> = async () => undefined,
  statementMs?: number,
): Promise<Pick<Ports, 'db' | 'kv' | 'objects' | 'close'>> {
  const reported = reportChanges(log)
  const [db, kv, objects] = await Promise.all([
    openDatabase({
      url: config.databaseUrl,
      dir: join(config.dataDir, 'db'),
      ...(statementMs !== undefined && { statementMs }),
    }).then(async (opened) => {
      await prepare(opened)
      return opened
    }),
    openKv({
      url: config.redisUrl,
      partitions: config.buffer.partitions,
      path: join(config.dataDir, 'kv.sqlite'),
      admitWithinMs: config.buffer.retryMs,
      onError: reported('kv'),
    }),
    openObjects(config.objectsUrl || `file:${join(config.dataDir, 'objects')}`, config.s3),
  ])
  return {
    db,
    kv,
    objects,
    close: async () => void (await Promise.all([kv.close(), db.close(), objects.close()])),
  }
}

/** Opens every configured port. @param prepare as in `openStores` */
export async function openPorts(
  config: Config,
  log: Log,
  now: MachineClock,
  prepare?: (db: Database) => Promise<void>,
): Promise<Ports> {
  const [stores, bus] = await Promise.all([
    openStores(config, log, prepare),
    openBus({ url: config.natsUrl, onError: reportChanges(log)('bus') }),
  ])
  const limits = new Map<string, ReturnType<typeof createServiceLimits>>()
  const [event, made] = await Promise.all([followEvent(stores.db, config, log), followTokens(stores.db, log)])
  return {
    ...stores,
    config,
    event,
    bus,
    auth: withTokenUse(
      createAuth(
        config.tokens,
        now,
        (address, guesses) => log.warn('repeated wrong admin tokens from one address', { address, guesses }),
        Bun.sleep,
        made,
      ),
      stores.kv,
      now,
    ),
    calendar: createCalendar(config.timeZone),
    checkIdentity: createIdentity(config),
    pseudonyms: createPseudonyms(config),
    alarms: createAddressLimit(ALARM_LIMIT),
    kept: createKeptLimit(config.limits.address),
    limitsOf: (service) =>
      limits.getOrInsertComputed(service, () => createServiceLimits(config.limits.address, service)),
    now,
    stopwatch,
    async close() {
      await Promise.all([event.stop(), made.stop()])
      await bus.close()
      await stores.close()
    },
  }
}

const SCHEMA_CHECK_MS = 5_000

/**
 * Rejects a database with another schema. A service starts even if the database is unavailable; the check is then
 * retried until it is available.
 * @throws OtherSchema
 */
async function refuseOtherSchema(db: Database, log: Log): Promise<void> {
  try {
    await db.probe()
    await expectSchema(db)
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error
    setTimeout(() => {
      refuseOtherSchema(db, log).catch((refused: unknown) => {
        log.error('the database has the schema of another release: stopping', errorFields(refused))
        process.exit(1)
      })
    }, SCHEMA_CHECK_MS).unref()
  }
}

const REPEAT_MS = 30_000

/** Logs a port's errors; repeats the same error at most twice a minute, because an outage causes many. */
const reportChanges = (log: Log) => (port: string) => {
  let last = ''
  let lastMs = 0
  return (error: unknown): void => {
    const fields = errorFields(error)
    if (fields.error === last && performance.now() - lastMs < REPEAT_MS) return
    last = String(fields.error)
    lastMs = performance.now()
    log.warn('a port reports an error', { port, ...fields })
  }
}

export function contextOf(
  ports: Ports,
  name: string,
  log: Log,
  client: Pick<ServiceContext, 'tls' | 'addressOf'> &
    Partial<Pick<ServiceContext, 'stopping' | 'idleAfter' | 'clearAndRestart'>>,
): ServiceContext {
  const serviceLog = log.with({ service: name })
  const metrics = createMetrics(name)
  return {
    ...ports,
    ...ports.limitsOf(name),
    outbox: createOutbox(ports.db, ports.bus, ports.now, { log: serviceLog, metrics }),
    log: serviceLog,
    metrics,
    stopping: new AbortController().signal,
    idleAfter: () => undefined,
    clearAndRestart: null,
    ...client,
    addressOf: (request) => clientNetwork(client.addressOf(request)),
  }
}

/** Routes for the operator's own network; the proxy does not forward them. */
const operations = (
  context: ServiceContext,
  ready: () => boolean,
): Record<string, () => Promise<Response>> => ({
  '/livez': async () => new Response('alive'),
  '/readyz': async () => (ready() ? new Response('ready') : new Response('stopping', { status: 503 })),
  '/metrics': async () =>
    new Response(await context.metrics.page(), { headers: { 'Content-Type': 'text/plain; version=0.0.4' } }),
})

/** The client address from our proxy, which overwrites the header of a client. */
const PROXIED = {
  tls: false,
  addressOf: (request: Request): string => request.headers.get('x-forwarded-for') ?? 'unknown',
}

/** Reads the configuration (`readConfig`) and warns about unknown settings. @throws ConfigError */
export function readSettings(env: Environment, log: Log, isBot: boolean): Config {
  const names = unknownSettings(env)
  if (names.length > 0) log.warn('unknown settings: misspelt, or from another release', { names })
  return readConfig(env, isBot)
}

/**
 * Runs a service until SIGTERM or SIGINT. Each service's `app.ts` calls it when it is the program, and imports this
 * module only then, because importers of the service do not need it.
 * @param isBot as in `readConfig`
 */
export async function runService(
  create: (context: ServiceContext) => Service,
  { env = environment(), isBot = false }: { readonly env?: Environment; readonly isBot?: boolean } = {},
): Promise<void> {
  const log = createLog()
  watchUncaughtErrors(log)
  setPrivateUmask()
  const config = readSettings(env, log, isBot)
  const name = create.name.replace(/^create/, '').toLowerCase()
  const stopTraces = await startTraces(config.traces, name, log)
  const ports = await openPorts(config, log, machineNow, (db) => refuseOtherSchema(db, log))
  const stopping = new AbortController()
  const context = contextOf(ports, name, log, {
    ...PROXIED,
    stopping: stopping.signal,
    idleAfter: (request, seconds) => server.timeout(request, seconds),
  })
  const service = create(context)
  // Listen only after the start: the proxy sends requests to every process that accepts connections.
  await service.start()
  const stopHeartbeat = startHeartbeat(context, [service.name], config.servicePort)
  let ready = true
  const closed = Promise.withResolvers<void>()
  const hold = async (answer: Response | Promise<Response>): Promise<Response> => {
    const [response] = await Promise.all([answer, closed.promise])
    return response
  }
  const server = Bun.serve({
    port: config.servicePort,
    idleTimeout: IDLE_S,
    routes: operations(context, () => ready),
    fetch: (request) => (ready ? service.fetch(request) : hold(service.fetch(request))),
    error: (error) => answerUnexpected(log, error),
  })
  log.info('listening', { service: service.name, port: server.port })
  const signal = await stopSignal()
  ready = false
  log.info('stopping', { service: service.name })
  // Ctrl-C stops at once.
  if (signal === 'SIGTERM') await Bun.sleep(HOLD_MS)
  stopping.abort()
  stopHeartbeat()
  const drained = drain(server)
  closed.resolve()
  await drained
  // Stop the service before the ports: handling an event may wait for an operation that the stop aborts.
  await service.stop()
  await context.outbox.stop()
  await ports.close()
  await stopTraces()
  process.exit(0)
}

/** Stops a server when its requests are answered, after 25 s at the latest. */
export async function drain(server: Server<undefined>): Promise<void> {
  await within(server.stop(), DRAIN_MS, () => server.stop(true))
}

/** Resolves at the first SIGTERM or SIGINT. Under `bun run` each signal arrives twice, so later ones are ignored. */
export function stopSignal(): Promise<'SIGTERM' | 'SIGINT'> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal))
  })
}

/**
 * postgres.js leaves a rejection unhandled when the server dies while a connection opens. The queries report the same
 * error, so this rejection does not end the process; any other one does.
 */
export function watchUncaughtErrors(log: Log): void {
  process.on('unhandledRejection', (error) => {
    if (isDatabaseUnavailable(error)) {
      log.warn('a connection to the database broke while it was opening', errorFields(error))
      return
    }
    log.error('unhandled rejection of a promise: stopping', errorFields(error))
    process.exit(1)
  })
  // This includes errors at start. Bun itself would print the error with all its properties.
  process.on('uncaughtException', (error) => {
    log.error('uncaught error: stopping', errorFields(error))
    process.exit(1)
  })
}
