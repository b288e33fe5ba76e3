/** How long positions stay on the live map, in the kv and in the memory of its replicas. */
import type { MachineClock } from '#shared/runtime/clock.ts'
import type { KvPresence, KvServer } from '#shared/stores/kv/kv.ts'

/** The map shows positions of 24 hours; one more day allows for a clock or a time that is wrong by hours (ms). */
const KEPT_MS = 2 * 86_400_000

interface Clocks {
  readonly kv: KvPresence & KvServer
  readonly now: MachineClock
}

/**
 * The range of times that stay. A position is removed only if it is too old, or too far in the future, by the clocks of
 * both the kv and this process: one wrong clock removes nothing.
 */
export async function keptTimes({ kv, now }: Pick<Clocks, 'kv' | 'now'>) {
  const clocks = [now(), await kv.clock()]
  return { fromMs: Math.min(...clocks) - KEPT_MS, toMs: Math.max(...clocks) + KEPT_MS }
}

const PAGE = 1_000
/** Maximum pages per partition and call; the next flush continues. */
const MAX_PAGES = 100

/** Removes old positions from the kv. @throws KvUnavailable */
export async function dropOldPositions({ kv, now }: Clocks): Promise<void> {
  const { fromMs, toMs } = await keptTimes({ kv, now })
  for (let partition = 0; partition < kv.partitions; partition++) {
    let kept = 0
    for (let page = 0; page < MAX_PAGES; page++) {
      const { seen, dropped } = await kv.dropPositions(partition, kept, PAGE, fromMs, toMs)
      // Later pages changed more recently, so they are unlikely to hold older positions.
      if (seen < PAGE || dropped === 0) break
      kept += seen - dropped
    }
  }
}
