/** What a service is given: its configuration and its ports, never a global. */
import type { Auth } from '#shared/security/admin-auth.ts'
import type { Bus } from '#shared/bus/bus.ts'
import type { Config } from '#shared/config/config.ts'
import type { Database } from '#shared/db/db.ts'
import type { AddressLimit } from '#shared/security/address-limit.ts'
import type { CheckIdentity } from '#shared/security/pilgrim-identity.ts'
import type { Kv } from '#shared/kv/kv.ts'
import type { Log } from '#shared/runtime/log.ts'
import type { Metrics } from '#shared/runtime/metrics.ts'
import type { Objects } from '#shared/objects/objects.ts'
import type { Outbox } from '#shared/bus/outbox.ts'
import type { Calendar } from '#shared/rules/calendar.ts'

export interface ServiceContext {
  readonly config: Config
  readonly db: Database
  readonly kv: Kv
  readonly bus: Bus
  readonly objects: Objects
  readonly outbox: Outbox
  readonly auth: Auth
  readonly calendar: Calendar
  /** Whether a caller is the pilgrim in whose name they call. */
  readonly checkIdentity: CheckIdentity
  /** What one address may write in all. */
  readonly addresses: AddressLimit
  readonly log: Log
  readonly metrics: Metrics
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Whether requests come by TLS to this process itself, and not from the proxy. */
  readonly tls: boolean
  /** A client's address as our own proxy states it, or the IPv6 network (/64) that it lies in. */
  readonly addressOf: (request: Request) => string
  /** Aborted when the process begins to end: an answer without an end of its own ends then. */
  readonly stopping: AbortSignal
  /** Closes a request's connection after so many seconds without a byte from the client; 0: never. */
  readonly idleAfter: (request: Request, seconds: number) => void
}

/** A service: its routes, and what runs beside them. Creating it does nothing. */
export interface Service {
  readonly name: string
  readonly fetch: (request: Request) => Response | Promise<Response>
  start(): Promise<void>
  stop(): Promise<void>
}
