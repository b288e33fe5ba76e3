/** The health report, from probes of the stores that are cached for a second. */
import { readStatus } from '#shared/pilgrims/activity-status.ts'
import { knownCertificates, publicHosts } from '#shared/service/alerts/certificates.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { time, timeOrNull } from '#shared/contracts/fields.ts'
import type { Health } from '#shared/contracts/operations.ts'
import { createLastFlush } from '#shared/points/pending-points.ts'
import { never } from '#shared/runtime/clock.ts'
import { within } from '#shared/runtime/deadline.ts'
import { newestBackupMs } from '#shared/service/last-backup.ts'
import { readCommit } from '#shared/runtime/commit.ts'
import { environment } from '#shared/runtime/config/config.ts'
import { RELEASE } from '#shared/runtime/release.ts'

const CACHE_MS = 1_000
/** Same timeout as the probes: a busy database does not delay the report. */
const READ_MS = 2_000

const probed = async (probe: Promise<unknown>): Promise<'ok' | 'error'> => {
  try {
    await probe
    return 'ok'
  } catch {
    // The services that use the store report the cause in their metrics and logs.
    return 'error'
  }
}

/** A reader with one read in flight at a time. While reads are late or fail, the value stays. */
function createReader<T>(first: T, read: () => Promise<T>): () => Promise<T> {
  let value = first
  let reading: Promise<void> | null = null
  return async () => {
    reading ??= read()
      .then((now) => void (value = now))
      .catch(() => undefined)
      .finally(() => (reading = null))
    await within(reading, READ_MS, () => undefined)
    return value
  }
}

export function createHealth(context: ServiceContext): () => Promise<Health> {
  const { config, db, kv, objects, bus, stopwatch, metrics } = context
  let report: Promise<Health> | null = null
  let age = never
  const readEnded = createReader(false, async () => (await readStatus(db)).status === 'ended')
  const readFlush = createReader<number | null>(null, createLastFlush(context))
  const readSize = createReader(0, () => kv.bufferSize())
  const readBackup = createReader<number | null>(null, () => newestBackupMs(kv))
  const unknown = Object.fromEntries(publicHosts(config).map(({ host }) => [host, null]))
  const readCertificates = createReader<Health['certificates']>(unknown, async () => {
    const known = Object.entries(await knownCertificates(kv, config))
    return Object.fromEntries(
      known.map(([host, certificate]) => [host, certificate && time(certificate.expiresMs)]),
    )
  })

  const commit = readCommit(environment().REVISION ?? '').catch(() => null)

  const probeAll = async (): Promise<Health> => {
    const [dbState, kvState, objectsState, ended, lastFlush, size, certificates, backup] = await Promise.all([
      probed(db.probe()),
      probed(kv.probe()),
      probed(objects.probe()),
      readEnded(),
      readFlush(),
      readSize(),
      readCertificates(),
      readBackup(),
    ])
    const healthy = dbState === 'ok' && kvState === 'ok'
    return {
      status: ended ? 'ended' : healthy ? 'ok' : 'error',
      db: dbState,
      kv: kvState,
      objects: objectsState,
      last_flush: timeOrNull(lastFlush),
      buffer_size: kvState === 'ok' ? size : 0,
      certificates,
      last_backup: timeOrNull(backup),
      version: RELEASE,
      commit: await within(commit, READ_MS, () => null),
    }
  }

  const read = () => {
    if (report === null || age() >= CACHE_MS) {
      age = stopwatch()
      report = probeAll()
    }
    return report
  }
  metrics.figures('event_store_up', async () => {
    const stores = await read()
    const isUp = (store: 'db' | 'kv' | 'objects'): number => Number(stores[store] === 'ok')
    return { db: isUp('db'), kv: isUp('kv'), objects: isUp('objects'), bus: Number(bus.connected()) }
  })
  return read
}
