/** The scheduler: the flush every few minutes and on demand. It has no public route. */
import type { Service, ServiceContext } from '#shared/context.ts'
import { noteFlush } from '#shared/ending.ts'
import { createRouter } from '#shared/http/router.ts'
import { readLastFlush } from '#shared/last-flush.ts'
import { errorFields } from '#shared/log.ts'
import { flush, type FlushContext } from './flush.ts'

/** A flush on demand waits for one that is under way: that one may have begun before the points came. */
const WAIT_MS = 300_000

export function createScheduler(context: ServiceContext): Service {
  const { config, db, kv, outbox, log, metrics, now } = context
  const flushing: FlushContext = { ...context, retentionMs: config.buffer.retentionMs }
  let timer: Timer | undefined
  let running: Promise<void> | null = null
  metrics.gauge('buffer_users', 'Pilgrims with points that wait for the flush', () => kv.bufferSize())

  const flushOnce = async (): Promise<void> => {
    try {
      const result = await flush(flushing)
      log.info('flushed', { ...result })
    } catch (error) {
      log.error('the flush failed', errorFields(error))
    }
  }
  const tick = () => {
    running ??= flushOnce().finally(() => (running = null))
  }

  return {
    name: 'scheduler',
    fetch: createRouter(context).fetch,
    async start() {
      await outbox.on('scheduler.flush', async ({ subject }) => {
        const result = await flush(flushing, WAIT_MS)
        if (result.failedSlices > 0) throw new Error(`${result.failedSlices} slices are not flushed`)
        if (subject === 'event.admin.activity.ended') await noteFlush(db.orm, new Date(now()))
      })
      timer = setInterval(tick, config.flushMs)
      const lastMs = await readLastFlush(db, kv).catch(() => null)
      if (lastMs === null || now() - lastMs >= config.flushMs) tick()
    },
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
