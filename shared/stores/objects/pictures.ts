/** Object keys of share cards and screenshots. */

export const CARDS = 'cards/'

export const cardKey = (userId: string): string => `${CARDS}${userId}/route.png`

/** Key of the card without the name. */
export const namelessCardKey = (userId: string): string => `${CARDS}${userId}/route-nameless.png`

/**
 * Keys of all cards of a pilgrim. The last two come from an earlier design that drew the walked path; nothing shows
 * them now.
 */
export const cardKeysOf = (userId: string): string[] => [
  cardKey(userId),
  namelessCardKey(userId),
  `${CARDS}${userId}.png`,
  `${CARDS}${userId}/nameless.png`,
]

/** Returns the user id of a card's key; null for any other key. */
export const userOfCard = (key: string): string | null =>
  /^cards\/(?!newcomers\/)([^/]+?)(?:\/(?:nameless|route|route-nameless))?\.png$/.exec(key)?.[1] ?? null

/** Key of the card of all pilgrims without points; no user id contains a slash. @param fingerprint of its content */
export const newcomersCardKey = (fingerprint: string): string => `cards/newcomers/${fingerprint}.png`

export const SCREENSHOTS = 'screenshots/'

/** Whether an object is a picture. Other objects are webhook events not yet stored in the database. */
export const isPicture = (key: string): boolean => key.startsWith(CARDS) || key.startsWith(SCREENSHOTS)

/** Key of a screenshot by its file name; null for a name that no upload has. */
export const screenshotKey = (file: string): string | null =>
  /^[0-9a-f]{32}\.png$/.test(file) ? `${SCREENSHOTS}${file}` : null
