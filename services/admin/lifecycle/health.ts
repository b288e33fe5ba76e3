/** The health report, from real probes that are cached for a second. */
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
    // What exactly is wrong stands in the metrics and logs of those who use it.
    return 'error'
  }
}

/** Answers the report; asks the dependencies at most once a second, whoever asks. */
export function createHealth({ db, kv, objects, now }: ServiceContext): () => Promise<Health> {
  let report: Promise<Health> | null = null
  let askedMs = 0
  // The status outlives the database for this report: an ended event stays ended.
  let ended = false
  // And so does the time of the last flush.
  let lastFlush: number | null = null

  const ask = async (): Promise<Health> => {
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
    if (report === null || now() - askedMs >= CACHE_MS) {
      askedMs = now()
      report = ask()
    }
    return report
  }
}
