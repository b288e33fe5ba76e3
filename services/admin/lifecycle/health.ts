/** The health report, from probes of the stores that are cached for a second. */
import { readStatus } from '#shared/lifecycle/activity-status.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { Health } from '#shared/contracts/operations.ts'
import { readLastFlush } from '#shared/buffer/last-flush.ts'

const CACHE_MS = 1_000

const probed = async (probe: Promise<unknown>): Promise<'ok' | 'error'> => {
  try {
    await probe
    return 'ok'
  } catch {
    // The services that use the store report the cause in their metrics and logs.
    return 'error'
  }
}

/** Creates the reader of the report. The stores are probed at most once a second. */
export function createHealth({ db, kv, objects, now }: ServiceContext): () => Promise<Health> {
  let report: Promise<Health> | null = null
  let probedMs = 0
  // Remembered while the database is unavailable, because an ended event stays ended.
  let ended = false
  // Remembered while both stores are unavailable.
  let lastFlush: number | null = null

  const probeAll = async (): Promise<Health> => {
    const [dbState, kvState, objectsState] = await Promise.all([
      probed(db.probe()),
      probed(kv.probe()),
      probed(objects.probe()),
    ])
    if (dbState === 'ok') ended = (await readStatus(db).catch(() => null))?.status === 'ended' || ended
    lastFlush =
      dbState === 'ok' || kvState === 'ok' ? await readLastFlush(db, kv).catch(() => lastFlush) : lastFlush
    const healthy = dbState === 'ok' && kvState === 'ok'
    return {
      status: ended ? 'ended' : healthy ? 'ok' : 'error',
      db: dbState,
      kv: kvState,
      objects: objectsState,
      last_flush: lastFlush === null ? null : time(lastFlush),
      buffer_size: kvState === 'ok' ? await kv.bufferSize().catch(() => 0) : 0,
    }
  }

  return () => {
    if (report === null || now() - probedMs >= CACHE_MS) {
      probedMs = now()
      report = probeAll()
    }
    return report
  }
}
