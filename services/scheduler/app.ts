/** The scheduler flushes every few minutes and on demand. It has no public route. */
import { dropSparedQueries, publishStatus } from '#shared/pilgrims/kv-copies.ts'
import { createCertificateReader } from '#shared/service/alerts/certificates.ts'
import { isClaim } from '#shared/service/security/claims.ts'
import { createAlertWatch } from '#shared/service/alerts/when-to-alert.ts'
import type { Service, ServiceContext } from '#shared/service/context.ts'
import type { Event, Payload } from '#shared/contracts/events.ts'
import { recordFinalFlush } from '#shared/pilgrims/activity-status.ts'
import { createRouter } from '#shared/service/http/router.ts'
import { MEMORY_CEILING } from '#shared/points/admission.ts'
import { createLastFlush } from '#shared/points/pending-points.ts'
import { errorFields, LoggableError } from '#shared/runtime/log.ts'
import { span } from '#shared/runtime/traces.ts'
import { repeated } from '#shared/stores/repeated-work.ts'
import { createNotifications } from './dispatch-notifications.ts'
import { flush, type FlushContext, type FlushResult } from './flush/flush.ts'
import { createMaintenance } from './maintenance.ts'
import { followArchive } from '#shared/service/continuous-archive.ts'
import { createScheduledBackups } from './scheduled-backups.ts'

/** A flush on demand waits for a running one, because that one may have started before the points arrived. */
const WAIT_MS = 300_000
/** Specification, "Limits": flush lock. */
const LOCK_MS = 90_000
/** While a slice is stored or acknowledged, Redis and an embedded database cannot do anything else. */
const SLICE_POINTS = 5_000
/** Above this fraction of its memory the kv is flushed at once: at 0.9 it stops accepting points. */
const FLUSH_AT_USE = 0.5
const LOOK_MS = 5_000
const ARCHIVE_MS = 30_000
/** Maximum time that a request, or the end, waits for points that cannot be stored or that only journals hold. */
const LEFT_MS = 300_000

export function createScheduler(context: ServiceContext): Service {
  const { config, kv, outbox, log, metrics, now } = context
  const stopping = new AbortController()
  const flushing: FlushContext = {
    ...context,
    retentionMs: config.buffer.retentionMs,
    lockMs: LOCK_MS,
    slicePoints: SLICE_POINTS,
    maxAgeMs: config.maxAgeMs,
    hidesLate: (userId) => config.mapCrowd > 1 && isClaim(config, userId),
    stopping: stopping.signal,
  }
  const running = new Set<Promise<FlushResult>>()
  const watch = createAlertWatch(context)
  const notifications = createNotifications(context)
  const certificates = createCertificateReader(context)
  const maintenance = createMaintenance(context)
  const backups = createScheduledBackups(context)
  const following = repeated(log, 'the continuous archive cannot be followed', ARCHIVE_MS, async () => {
    if (config.databaseUrl !== '') await followArchive(context)
  })
  const lastFlush = createLastFlush(context)
  let timer: Timer | undefined
  metrics.gauge('event_buffer_pilgrims', () => kv.bufferSize())
  metrics.gauge('event_kv_memory_ratio', () => kv.memoryUse())
  metrics.gauge('event_last_flush_timestamp_seconds', async () => {
    const lastMs = await lastFlush()
    return lastMs === null ? Number.NaN : lastMs / 1_000
  })

  const run = (waitMs: number): Promise<FlushResult> => {
    const flushed = span('flush', {}, () => flush(flushing, waitMs)).finally(() => running.delete(flushed))
    running.add(flushed)
    return flushed
  }
  const tick = () => {
    run(0)
      .then((result) => log.info('the flush is complete', { ...result }))
      .catch((error: unknown) => log.error('the flush failed', errorFields(error)))
  }

  /** Frees memory when the kv fills, unless a flush is running. */
  const looking = repeated(log, 'making room in the kv failed', LOOK_MS, async () => {
    if (running.size > 0) return
    const use = await kv.memoryUse()
    // No point is left to flush: other data fill the kv.
    if (use >= MEMORY_CEILING && (await kv.bufferSize()) === 0) await dropSparedQueries(kv)
    if (use >= FLUSH_AT_USE && running.size === 0) tick()
  })

  return {
    name: 'scheduler',
    fetch: createRouter(context).app.fetch,
    async start() {
      watch.start()
      maintenance.start()
      notifications.start()
      backups.start()
      // Not at once: the proxy, or the embedded run itself, does not listen yet.
      certificates.start(false)
      await outbox.on('scheduler.flush', (event) => flushOnDemand(context, event, run))
      timer = setInterval(tick, config.flushMs)
      looking.start(false)
      following.start(false)
      const lastMs = await lastFlush().catch(() => null)
      if (lastMs === null || now() - lastMs >= config.flushMs) tick()
    },
    async stop() {
      clearInterval(timer)
      stopping.abort()
      await Promise.allSettled([
        ...running,
        ...[looking, following, watch, maintenance, notifications, certificates, backups].map((job) =>
          job.stop(),
        ),
      ])
    },
  }
}

type Requested = Payload<'event.admin.flush.requested'>

async function flushOnDemand(
  { db, kv, now, log }: ServiceContext,
  { subject, payload }: Event,
  run: (waitMs: number) => Promise<FlushResult>,
): Promise<void> {
  const isFinal = subject === 'event.admin.activity.ended'
  // The process that ended the event may have died. After this, no point is admitted that this flush would miss.
  if (isFinal) await publishStatus(db, kv)
  const { failures, skipped } = await run(WAIT_MS)
  // Journals reach the kv within seconds after an outage. Without them the summary would be incomplete.
  const { journaled, waitingMs } = isFinal
    ? await journaledAtEnd(db, now())
    : { journaled: 0, waitingMs: now() - Date.parse((payload as Requested).requested_at) }
  const left = [
    ...(failures + skipped > 0
      ? [`the flush on demand is not complete: ${failures} failures, ${skipped} skipped`]
      : []),
    ...(journaled > 0 ? [`the final flush waits for ${journaled} points that are in journals`] : []),
  ].join('; ')
  if (left !== '' && waitingMs < LEFT_MS) throw new LoggableError(left)
  // The timer's flushes retry, and alerts and the ledger report the pending points.
  if (!isFinal) return
  if (left !== '') log.error('the event ends without some points', { left, pilgrims: await kv.bufferSize() })
  await recordFinalFlush(db, new Date(now()))
}

/** Points in journals, as last reported by their processes, and the time since the end of the event. */
async function journaledAtEnd(
  { sql }: ServiceContext['db'],
  nowMs: number,
): Promise<{ readonly journaled: number; readonly waitingMs: number }> {
  const [row] = await sql<[{ journaled: number; ended_ms: number | null }]>`
    SELECT (SELECT coalesce(sum(points), 0)::float8 FROM ledger_counts WHERE name = 'journaled') AS journaled,
           (SELECT epoch_ms(min(ended_at)) FROM ending) AS ended_ms`
  return { journaled: row.journaled, waitingMs: row.ended_ms === null ? Infinity : nowMs - row.ended_ms }
}

if (import.meta.main) {
  const { runService } = await import('#shared/service/service.ts')
  await runService(createScheduler)
}
