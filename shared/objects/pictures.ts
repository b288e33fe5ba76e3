/** Where a pilgrim's pictures are stored. */
import type { Query } from '#shared/db/db.ts'
import type { Objects } from './objects.ts'

export const cardKey = (userId: string): string => `cards/${userId}.png`

/** Key of the card that all pilgrims without a point share. A user id holds no slash. @param fingerprint of what it shows */
export const newcomersCardKey = (fingerprint: string): string => `cards/newcomers/${fingerprint}.png`

/** Key of a screenshot by its file name; null for a name that no upload was given. */
export const screenshotKey = (file: string): string | null =>
  /^[0-9a-f]{32}\.png$/.test(file) ? `screenshots/${file}` : null

/** Deletes a pilgrim's card and the screenshots of their feedback; answers how many there were. */
export async function deletePictures(sql: Query, objects: Objects, userId: string): Promise<number> {
  const rows = await sql<{ url: string }[]>`
    SELECT screenshot_url AS url FROM feedback WHERE user_id = ${userId} AND screenshot_url IS NOT NULL`
  const keys = [cardKey(userId), ...rows.map(({ url }) => screenshotKey(url.slice(url.lastIndexOf('/') + 1)))]
  let deleted = 0
  for (const key of keys) {
    if (key === null || (await objects.head(key)) === null) continue
    await objects.delete(key)
    deleted++
  }
  return deleted
}
