/** Which device is the palanquin, as an operator has named it. */
import type { Config } from '#shared/runtime/config/config.ts'
import type { Database } from '#shared/stores/db/db.ts'
import { isClaim } from './security/claims.ts'

/** A device of a pilgrim. */
export interface Device {
  readonly userId: string
  /** Of the tracker's key; null: the phone that proves the id. */
  readonly keyHash: string | null
}

/** `none`: nothing is named; `unbound`: somebody is, and nothing may move the palanquin. */
export type Named = Device | 'none' | 'unbound'

/**
 * Reads the palanquin's device. Hidden or erased people have none. Nor has a claim without a tracker, which was named by
 * an earlier release, or while `EVENT_IDENTITY` was `line`. With one, it is no matter whether the claim hides: that may
 * be a stranger's doing.
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
