/** Which device is the palanquin, as set by an operator. */
import type { Config } from '#shared/runtime/config/config.ts'
import type { Database } from '#shared/stores/db/db.ts'
import { isClaim } from './security/claims.ts'

/** A device of a pilgrim. */
export interface Device {
  readonly userId: string
  /** Device of the tracker's key; null: the phone of the pilgrim. */
  readonly keyHash: string | null
}

/** `none`: no palanquin is set; `unbound`: one is set, but it has no device that may move it. */
export type Named = Device | 'none' | 'unbound'

/**
 * Reads the palanquin's device. Hidden and erased pilgrims have none, nor has a claim without a tracker (set
 * by an earlier release, or under `EVENT_IDENTITY=line`). A claim with a tracker keeps its device even if it
 * is hidden, because a stranger may have hidden it.
 */
export async function readPalanquin({
  config,
  db,
}: {
  readonly config: Pick<Config, 'identity'>
  readonly db: Database
}): Promise<Named> {
  const [named] = await db.read(
    () => db.sql<{ userId: string; hides: boolean; byTracker: boolean; keyHash: string | null }[]>`
      SELECT p.user_id AS "userId", p.palanquin_tracker IS NOT NULL AS "byTracker", t.key_hash AS "keyHash",
        p.consent_withdrawn OR p.participant_status = 'withdrawn' AS hides
      FROM pilgrims p LEFT JOIN trackers t ON t.id = p.palanquin_tracker AND t.user_id = p.user_id
      WHERE p.palanquin`,
  )
  if (named === undefined) return 'none'
  const { userId, hides, byTracker, keyHash } = named
  const claimed = isClaim(config, userId)
  // A tracker may have been revoked.
  const isDevice = byTracker ? keyHash !== null && (claimed || !hides) : !claimed && !hides
  return isDevice ? { userId, keyHash } : 'unbound'
}
