/** The cache of a pilgrim's photo count: survey-profile reads it, the bot updates it with each photo. */

/** Specification, "Limits": photo count cache. */
export const PHOTO_COUNT_TTL_MS = 2_592_000_000

/** Prefix of their keys. */
export const PHOTO_COUNTS = 'photos:'

export const photoCountKey = (userId: string): string => `${PHOTO_COUNTS}${userId}`
