/** Profile data from a phone or LINE, and what pilgrims report about consumption and transport. */
import type { ServiceContext } from '#shared/service/context.ts'
import { isExactForAll } from '#shared/pilgrims/public-figures.ts'
import { readPilgrimsDegraded } from '#shared/points/totals/pilgrim-statistics.ts'
import type { Profile, UserSyncRequest } from '#shared/contracts/profile.ts'
import { mergeReported, upsertPilgrim } from './upsert-pilgrim.ts'
import { toPublicProfile, expectProfile } from './read-profile.ts'

/** The given fields, without absent and null ones. */
const given = <T>(
  fields: Readonly<Record<string, T | null | undefined>> | null | undefined,
): Record<string, T> =>
  Object.fromEntries(Object.entries(fields ?? {}).filter((entry): entry is [string, T] => entry[1] != null))

/** Stores the given fields and returns the profile: all of it only when the caller is verified as the pilgrim. */
export async function syncUser(context: ServiceContext, request: UserSyncRequest): Promise<Profile> {
  const { calendar, config, db, now } = context
  const { user_id: userId } = request
  const nowMs = now()
  const fields = given({
    displayName: request.display_name,
    pictureUrl: request.picture_url,
    language: request.language,
  })
  const consumption = given(request.consumption)
  const transport = given(request.transport)
  await db.orm.transaction(async (tx) => {
    const held = await upsertPilgrim(tx, userId, fields, nowMs)
    if (Object.keys({ ...consumption, ...transport }).length > 0)
      await mergeReported(tx, held, { consumption, transport })
  })
  const found = (await readPilgrimsDegraded(context, [userId])).get(userId)
  const profile = expectProfile(userId, found)
  // The caller has been verified as the pilgrim, unless EVENT_IDENTITY is open.
  if (config.identity !== 'open') return profile
  return toPublicProfile(calendar, profile, found, await isExactForAll(context))
}
