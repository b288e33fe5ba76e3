/** The dependencies of a service: configuration and ports, without globals. */
import type { MachineClock, StartStopwatch } from '#shared/runtime/clock.ts'
import type { Acting } from '#shared/service/security/audit-log.ts'
import type { Auth } from '#shared/service/security/admin-auth.ts'
import type { Bus } from '#shared/stores/bus/bus.ts'
import type { Config } from '#shared/runtime/config/config.ts'
import type { Database } from '#shared/stores/db/db.ts'
import type { AddressLimit } from '#shared/service/security/caller-and-address-limits.ts'
import type { CheckIdentity } from '#shared/service/security/pilgrim-identity.ts'
import type { Pseudonyms } from '#shared/service/security/pseudonyms.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'
import type { Log } from '#shared/runtime/log.ts'
import type { Metrics } from '#shared/runtime/metrics.ts'
import type { Objects } from '#shared/stores/objects/objects.ts'
import type { Outbox } from '#shared/stores/bus/outbox.ts'
import type { FollowedEvent } from '#shared/pilgrims/event-settings.ts'
import type { KeptLimit } from './security/request-prices.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'

export interface ServiceContext {
  readonly config: Config
  /** The owner's settings; read `current` for each use, because it changes. */
  readonly event: Pick<FollowedEvent, 'current' | 'refresh'>
  readonly db: Database
  readonly kv: Kv
  readonly bus: Bus
  readonly objects: Objects
  readonly outbox: Outbox
  readonly auth: Auth
  readonly calendar: Calendar
  readonly checkIdentity: CheckIdentity
  readonly pseudonyms: Pseudonyms
  /** The rate limit of all writes to this service per client address. */
  readonly addresses: AddressLimit
  /** SOS presses that an address may send beyond its other limits. */
  readonly alarms: AddressLimit
  /** The limit of this service's public reads that are not answered from a cache. */
  readonly reads: AddressLimit
  /** The limit of the bytes that the stores keep for a client address. */
  readonly kept: KeptLimit
  readonly log: Log
  readonly metrics: Metrics
  /** `runtime/clock.ts` defines which clock to use. Alerts use that of the kv (`alerts/when-to-alert.ts`). */
  readonly now: MachineClock
  /** Measures ages in this process; a test may advance it. */
  readonly stopwatch: StartStopwatch
  /** Whether clients connect to this process by TLS, without the proxy. */
  readonly tls: boolean
  /** The client's address according to our proxy; for IPv6 its /64 network. */
  readonly addressOf: (request: Request) => string
  /** Aborted when the process begins to stop, which ends endless answers such as streams. */
  readonly stopping: AbortSignal
  /**
   * Stops the service, clears the rehearsal and starts again; null where other processes use the stores.
   */
  readonly clearAndRestart: ((actor: Acting) => void) | null
  /** Sets a request's idle timeout: the connection closes after this many seconds without data; 0: never. */
  readonly idleAfter: (request: Request, seconds: number) => void
}

/** A service: its routes and background tasks. Creating it has no side effects. */
export interface Service {
  readonly name: string
  readonly fetch: (request: Request) => Response | Promise<Response>
  start(): Promise<void>
  stop(): Promise<void>
}
