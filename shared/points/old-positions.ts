/** How long positions stay on the live map, in the kv and in the memory of its replicas. */
import type { MachineClock } from '#shared/runtime/clock.ts'
import type { KvPresence, KvServer } from '#shared/stores/kv/kv.ts'

/** The map shows the positions of 24 hours; a day more, for a clock or a time that is wrong by hours (ms). */
const KEPT_MS = 2 * 86_400_000

interface Clocks {
  readonly kv: KvPresence & KvServer
  readonly now: MachineClock
}

/**
 * The times of positions that stay. A position outside is too old, or too far in the future, by the clock of the kv and
 * by that of this process: one wrong clock removes nothing.
 */
export async function keptTimes({ kv, now }: Pick<Clocks, 'kv' | 'now'>) {
  const clocks = [now(), await kv.clock()]
  return { fromMs: Math.min(...clocks) - KEPT_MS, toMs: Math.max(...clocks) + KEPT_MS }
}

const PAGE = 1_000
/** Pages of a partition in one call: the next flush continues. */
const MAX_PAGES = 100

/** Removes old positions from the kv. @throws KvUnavailable */
export async function dropOldPositions({ kv, now }: Clocks): Promise<void> {
  const { fromMs, toMs } = await keptTimes({ kv, now })
  for (let partition = 0; partition < kv.partitions; partition++) {
    let kept = 0
    for (let page = 0; page < MAX_PAGES; page++) {
      const { seen, dropped } = await kv.dropPositions(partition, kept, PAGE, fromMs, toMs)
      // Later pages have changed since, so they are hardly older.
      if (seen < PAGE || dropped === 0) break
      kept += seen - dropped
    }
  }
}
