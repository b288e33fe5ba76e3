/** An installation on servers, for tests that run writers at a chosen moment. */
import { eraseUser } from '#services/admin/erasure/erase-pilgrim.ts'
import { openEmbeddedBus } from '#shared/stores/bus/bus.embedded.ts'
import { createOutbox } from '#shared/stores/bus/outbox.ts'
import type { Erasure } from '#shared/contracts/erasure.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { firstEvent } from '#shared/pilgrims/event-settings.ts'
import { stopwatch } from '#shared/runtime/clock.ts'
import { createLog } from '#shared/runtime/log.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { ALARM_LIMIT, createAddressLimit } from '#shared/service/security/caller-and-address-limits.ts'
import { createKeptLimit } from '#shared/service/security/request-prices.ts'
import { openInstallation, OPERATOR } from '#tests/admin/backup-harness.ts'
import { lineUser } from '#tests/helpers/line-server.ts'
import { findInStores } from '#tests/helpers/stores.ts'
import { placesOf } from './person.ts'

/** Timeout for opening it on a busy machine. */
export const OPEN_MS = 60_000

export interface Late {
  readonly context: ServiceContext
  erase(userId: string): Promise<Erasure>
  /** Places that contain these words. */
  found(words: readonly string[]): Promise<string[]>
  close(): Promise<void>
}

let person = 0xe5a5e
/** An id in LINE's format. */
export const newUser = (): string => lineUser(++person)

export async function openLate(): Promise<Late> {
  const { installation, harness, close } = await openInstallation('real')
  const log = createLog({}, () => undefined)
  const metrics = createMetrics('test')
  const now = () => Date.now()
  const bus = await openEmbeddedBus({ onError: () => undefined })
  const context = {
    ...installation,
    event: { current: firstEvent(installation.config) },
    now,
    stopwatch,
    addresses: createAddressLimit(installation.config.limits.address),
    alarms: createAddressLimit(ALARM_LIMIT),
    kept: createKeptLimit(installation.config.limits.address),
    log,
    calendar: harness.calendar,
    metrics,
    outbox: createOutbox(installation.db, bus, now, { log, metrics }),
    stopping: new AbortController().signal,
  } as unknown as ServiceContext
  const { databaseUrl, redisUrl, dataDir } = installation.config
  const places = placesOf({ DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, EVENT_DATA_DIR: dataDir })
  return {
    context,
    erase: (userId) => eraseUser(context, OPERATOR, userId),
    found: (words) => findInStores(places, words),
    close,
  }
}
