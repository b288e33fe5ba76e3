/** Privacy consent: given with a version and a time, or withdrawn. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { PrivacyAnswer, PrivacyRequest } from '#shared/contracts/profile.ts'
import { consents } from '#shared/schema/profiles.ts'
import { endShares } from '#shared/pilgrims/shares.ts'
import { updateLiveMapPresence } from '#shared/pilgrims/live-map-presence.ts'
import { upsertPilgrim } from './upsert-pilgrim.ts'

/** Records it and its history in one transaction. A pilgrim who withdraws it leaves the live map immediately, and their links end. */
export async function recordConsent(
  context: ServiceContext,
  { user_id: userId, agreed, version }: PrivacyRequest,
): Promise<PrivacyAnswer> {
  const { db, now } = context
  const at = new Date(now())
  const row = await db.orm.transaction(async (tx) => {
    const fields = {
      privacyAgreed: agreed,
      privacyAgreedAt: agreed ? at : null,
      privacyVersion: version ?? null,
      consentWithdrawn: !agreed,
    }
    const row = await upsertPilgrim(tx, userId, fields, at.getTime())
    if (!agreed) await endShares(tx, userId)
    await tx.insert(consents).values({ userId, agreed, version: version ?? null, at })
    return row
  })
  await updateLiveMapPresence(context, userId)
  return {
    userId,
    privacy_agreed: row.privacyAgreed,
    privacy_agreed_at: row.privacyAgreedAt && time(row.privacyAgreedAt.getTime()),
    version: row.privacyVersion,
  }
}
