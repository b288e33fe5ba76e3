/** Privacy consent: given with a version and a time, or withdrawn. */
import type { ServiceContext } from '#shared/service/context.ts'
import { timeOrNull } from '#shared/contracts/fields.ts'
import type { PrivacyAnswer, PrivacyRequest } from '#shared/contracts/profile.ts'
import type { Erased } from '#shared/stores/kv/kv.ts'
import { consents } from '#shared/stores/schema/tables.ts'
import { beginAnew } from '#shared/pilgrims/person-lock.ts'
import { endTrackers } from '#shared/pilgrims/tracker-keys.ts'
import { endShares } from '#shared/pilgrims/shares.ts'
import { updateLiveMapPresence } from '#shared/pilgrims/kv-copies.ts'
import { isClaim } from '#shared/service/security/claims.ts'
import { upsertPilgrim } from './write-profile.ts'

/**
 * Records the consent and its history in one transaction. On withdrawal the pilgrim leaves the live map
 * immediately, their links and tracker apps stop working, and their points are rejected until they consent
 * again. A withdrawal by a claim destroys nothing: links and tracker apps work again with the next consent.
 * An erased person who consents starts from nothing.
 * @throws KvUnavailable if the kv must change or a key must be revoked, and then nothing is stored; or if the
 *   kv could not record that an erased person starts again, and then the call must be repeated
 */
export async function recordConsent(
  context: ServiceContext,
  { user_id: userId, agreed, version }: PrivacyRequest,
): Promise<PrivacyAnswer> {
  const { config, db, kv, now } = context
  const at = new Date(now())
  let erasure: Erased | undefined
  const row = await db.transaction(async (tx) => {
    if (agreed) erasure = await beginAnew(tx, userId, at.getTime())
    const fields = {
      privacyAgreed: agreed,
      privacyAgreedAt: agreed ? at : null,
      privacyVersion: version ?? null,
      consentWithdrawn: !agreed,
    }
    const before = await upsertPilgrim(tx, userId, {}, at.getTime())
    const row = await upsertPilgrim(tx, userId, fields, at.getTime())
    if (!agreed && !isClaim(config, userId)) {
      await endShares(tx, userId)
      await endTrackers(tx, kv, userId)
    }
    await tx.orm.insert(consents).values({ userId, agreed, version: version ?? null, at })
    await updateLiveMapPresence(kv, userId, before, row)
    return row
  })
  // After the commit: the kv must not accept points of an erased person whose consent is not stored.
  if (erasure !== undefined) await kv.storeErasures([erasure])
  return {
    userId,
    privacy_agreed: row.privacyAgreed,
    privacy_agreed_at: timeOrNull(row.privacyAgreedAt),
    version: row.privacyVersion,
  }
}
