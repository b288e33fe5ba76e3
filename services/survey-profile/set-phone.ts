/** A pilgrim's phone number. */
import type { ServiceContext } from '#shared/service/context.ts'
import type { PhoneRequest } from '#shared/contracts/profile.ts'
import { maskPhone } from './read-profile.ts'
import { upsertPilgrim } from './upsert-pilgrim.ts'

/** Sets or clears the number. Returns it masked. */
export async function setPhone(
  { db, now }: ServiceContext,
  { user_id: userId, phone }: PhoneRequest,
): Promise<{ userId: string; phone: string | null }> {
  const nowMs = now()
  await db.orm.transaction((tx) => upsertPilgrim(tx, userId, { phone }, nowMs))
  return { userId, phone: phone === null ? null : maskPhone(phone) }
}
