/** Privacy consent: given with a version and a time, or withdrawn. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { PrivacyAnswer, PrivacyRequest } from '#shared/contracts/privacy.ts'
import { consents } from '#shared/schema/profiles.ts'
import { endTrackers } from '#shared/pilgrims/end-trackers.ts'
import { endShares } from '#shared/pilgrims/shares.ts'
import { updateLiveMapPresence } from '#shared/pilgrims/live-map-presence.ts'
import { upsertPilgrim } from './upsert-pilgrim.ts'

/**
 * Records it and its history in one transaction. A pilgrim who withdraws it leaves the live map immediately, and their
 * links and tracker apps end.
 * @throws KvUnavailable when the live map has to change or a key is to be refused, and then nothing is stored
 */
export async function recordConsent(
  context: ServiceContext,
  { user_id: userId, agreed, version }: PrivacyRequest,
): Promise<PrivacyAnswer> {
  const { db, kv, now } = context
  const at = new Date(now())
  const row = await db.orm.transaction(async (tx) => {
    const fields = {
      privacyAgreed: agreed,
      privacyAgreedAt: agreed ? at : null,
      privacyVersion: version ?? null,
      consentWithdrawn: !agreed,
    }
    const held = await upsertPilgrim(tx, userId, {}, at.getTime())
    const row = await upsertPilgrim(tx, userId, fields, at.getTime())
    if (!agreed) {
      await endShares(tx, userId)
      await endTrackers(tx, kv, userId)
    }
    await tx.insert(consents).values({ userId, agreed, version: version ?? null, at })
    await updateLiveMapPresence(kv, userId, held, row)
    return row
  })
  return {
    userId,
    privacy_agreed: row.privacyAgreed,
    privacy_agreed_at: row.privacyAgreedAt && time(row.privacyAgreedAt.getTime()),
    version: row.privacyVersion,
  }
}
