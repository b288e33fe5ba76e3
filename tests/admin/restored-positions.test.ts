/** A backup contains all live positions, and a restore puts all of them on the map. */
import { describe, expect, test } from 'bun:test'
import { restoreWaiting } from '#services/admin/restore.ts'
import { LivePositions } from '#services/tracking/map/latest-positions.ts'
import { createLog } from '#shared/runtime/log.ts'
import { type Kv, partitionOf, type Submission } from '#shared/stores/kv/kv.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import { checkin, rules } from '#tests/kv/drivers.ts'
import { backUp, type Kind, openInstallation } from './backup-harness.ts'

/** More than a line of a backup, and more than a replica reads at a time. */
const PILGRIMS = 6_000
const KINDS: Kind[] = embeddedOnly ? ['embedded'] : ['embedded', 'real']

async function place(kv: Kv, submissions: readonly Submission[]): Promise<void> {
  const byPartition = Map.groupBy(submissions, ({ userId }) => partitionOf(userId, kv.partitions))
  for (const [partition, own] of byPartition) await kv.restore(partition, own, rules())
}

/** Positions that a replica shows when it starts. */
async function shownAtStart(kv: Kv, nowMs: number): Promise<number> {
  const log = createLog({}, () => undefined)
  const live = new LivePositions(kv, () => nowMs, log)
  await live.refresh()
  return live.held()
}

describe.each(KINDS)('%s', (kind) => {
  test(`${PILGRIMS} positions that changed at the same time are backed up and restored`, async () => {
    const source = await openInstallation(kind)
    const target = await openInstallation(kind)
    try {
      const { nowMs } = source.harness
      const all = Array.from({ length: PILGRIMS }, (_, i) =>
        checkin({ userId: `walker-${i}`, entries: [], position: { t: nowMs, lat: 24, lng: 120.6 } }),
      )
      await place(source.installation.kv, all)
      expect(await shownAtStart(source.installation.kv, nowMs)).toBe(PILGRIMS)
      await restoreWaiting(target.installation, { path: await backUp(source) }, [])
      expect(await shownAtStart(target.installation.kv, nowMs)).toBe(PILGRIMS)
    } finally {
      await Promise.all([source.close(), target.close()])
    }
  })
})
