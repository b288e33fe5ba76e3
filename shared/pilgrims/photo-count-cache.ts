/**
 * The cache of a pilgrim's photo count: survey-profile reads it, the bot updates it with each photo. It holds what others
 * may see, as the public profile does (`profile.ts`).
 */
import { isAppId } from '#shared/contracts/fields.ts'
import { maySharePilgrim } from './shares.ts'

/** Specification, "Limits": photo count cache. */
export const PHOTO_COUNT_TTL_MS = 2_592_000_000

export const PHOTO_COUNTS = 'photos:'

export const photoCountKey = (userId: string): string => `${PHOTO_COUNTS}${userId}`

/** Zero for a pilgrim who may not share. Only the pilgrim knows an app's id. */
export const shownPhotoCount = (
  row: Parameters<typeof maySharePilgrim>[0] & { readonly userId: string; readonly photoCount: number },
): number => (isAppId(row.userId) || maySharePilgrim(row) ? row.photoCount : 0)
