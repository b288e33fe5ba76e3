/** Where a pilgrim's pictures are stored. */

export const CARDS = 'cards/'

export const cardKey = (userId: string): string => `${CARDS}${userId}.png`

/** Whose card a key is; null for a key of something else. */
export const userOfCard = (key: string): string | null => /^cards\/(.*)\.png$/.exec(key)?.[1] ?? null

/** Key of the card that all pilgrims without a point share. A user id holds no slash. @param fingerprint of what it shows */
export const newcomersCardKey = (fingerprint: string): string => `cards/newcomers/${fingerprint}.png`

/** Key of a screenshot by its file name; null for a name that no upload was given. */
export const screenshotKey = (file: string): string | null =>
  /^[0-9a-f]{32}\.png$/.test(file) ? `screenshots/${file}` : null
