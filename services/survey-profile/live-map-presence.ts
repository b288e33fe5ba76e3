/** Who is on the live map: not the withdrawn, and not those who took back their consent. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { pilgrims } from '#shared/schema/profiles.ts'

/** Brings the kv to what the pilgrim's row says. @throws KvUnavailable: the row stands, the caller tries again */
export async function showOrHide({ kv }: ServiceContext, row: typeof pilgrims.$inferSelect): Promise<void> {
  await kv.hide(row.userId, row.participantStatus === 'withdrawn' || row.consentWithdrawn)
}
