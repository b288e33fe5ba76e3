/** Profile data as a phone or LINE knows it, and what pilgrims report of their consumption and transport. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { Profile, UserSyncRequest } from '#shared/contracts/profile.ts'
import { mergeReported, upsertPilgrim } from './upsert-pilgrim.ts'
import { forOthers, knownProfile, readProfiles } from './read-profile.ts'

/** The fields that were given; absent and null ones are left out. */
const given = <T>(
  fields: Readonly<Record<string, T | null | undefined>> | null | undefined,
): Record<string, T> =>
  Object.fromEntries(
    Object.entries(fields ?? {}).filter(
      (entry): entry is [string, T] => entry[1] !== null && entry[1] !== undefined,
    ),
  )

/** Stores what was given and answers the whole profile, to the pilgrim if it is certain that they ask. */
export async function syncUser(context: ServiceContext, request: UserSyncRequest): Promise<Profile> {
  const { config, db, now } = context
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
  const profile = knownProfile(userId, (await readProfiles(context, [userId])).get(userId))
  // Whoever writes in a pilgrim's name has been verified, unless identity is open.
  return config.identity === 'open' ? forOthers(context, profile) : profile
}
