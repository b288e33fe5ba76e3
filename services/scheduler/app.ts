/** The scheduler: it flushes every few minutes and on demand. It has no public route. */
import { publishStatus } from '#shared/lifecycle/activity-status.ts'
import { createAlertWatch } from '#shared/alerts/watch.ts'
import type { Service, ServiceContext } from '#shared/runtime/context.ts'
import type { Subject } from '#shared/contracts/events.ts'
import { recordFinalFlush } from '#shared/lifecycle/end-progress.ts'
import { createRouter } from '#shared/http/router.ts'
import { readLastFlush } from '#shared/buffer/last-flush.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { startNotifications } from './dispatch-notifications.ts'
import { flush, type FlushResult } from './flush/flush.ts'
import type { FlushContext } from './flush/flush-context.ts'
import { createMaintenance } from './maintenance.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

/** A flush on demand waits for a running one, because that one may have started before the points arrived. */
const WAIT_MS = 300_000
/** Specification, "Limits": flush lock. */
const LOCK_MS = 90_000
/** While a slice is stored or acknowledged, Redis and an embedded database do nothing else. */
const SLICE_POINTS = 5_000

export function createScheduler(context: ServiceContext): Service {
  const { config, db, kv, outbox, log, metrics, now } = context
  const stopping = new AbortController()
  const flushing: FlushContext = {
    ...context,
    retentionMs: config.buffer.retentionMs,
    lockMs: LOCK_MS,
    slicePoints: SLICE_POINTS,
    stopping: stopping.signal,
  }
  const running = new Set<Promise<FlushResult>>()
  const watch = createAlertWatch(context)
  let stopNotifications: () => Promise<void> = async () => undefined
  const maintenance = createMaintenance(context)
  let timer: Timer | undefined
  metrics.gauge('event_buffer_pilgrims', 'Pilgrims with pending points', () => kv.bufferSize())

  const run = (waitMs: number): Promise<FlushResult> => {
    const flushed = flush(flushing, waitMs).finally(() => running.delete(flushed))
    running.add(flushed)
    return flushed
  }
  const tick = () => {
    run(0)
      .then((result) => log.info('the flush is complete', { ...result }))
      .catch((error: unknown) => log.error('the flush failed', errorFields(error)))
  }

  return {
    name: 'scheduler',
    fetch: createRouter(context).fetch,
    async start() {
      watch.start()
      maintenance.start()
      stopNotifications = startNotifications(context)
      await outbox.on('scheduler.flush', ({ subject }) => flushOnDemand(context, subject, run))
      timer = setInterval(tick, config.flushMs)
      const lastMs = await readLastFlush(db, kv).catch(() => null)
      if (lastMs === null || now() - lastMs >= config.flushMs) tick()
    },
    async stop() {
      clearInterval(timer)
      stopping.abort()
      await Promise.allSettled([...running, watch.stop(), maintenance.stop(), stopNotifications()])
    },
  }
}

async function flushOnDemand(
  { db, kv, now }: ServiceContext,
  subject: Subject,
  run: (waitMs: number) => Promise<FlushResult>,
): Promise<void> {
  const isFinal = subject === 'event.admin.activity.ended'
  // The process that ended the event may be gone. After this no point is admitted that this flush would miss.
  if (isFinal) await publishStatus(db, kv)
  const { failures, skipped } = await run(WAIT_MS)
  if (failures + skipped > 0)
    throw new LoggableError(`the flush on demand is not complete: ${failures} failures, ${skipped} skipped`)
  if (isFinal) await recordFinalFlush(db.orm, new Date(now()))
}
