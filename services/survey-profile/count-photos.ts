/** The number of photos a pilgrim has sent to the bot. Cached for 30 days and updated with each photo. */
import { eq } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import type { PhotoCount } from '#shared/contracts/profile.ts'
import { lockPersonShared } from '#shared/pilgrims/person-lock.ts'
import { photoCountKey, PHOTO_COUNT_TTL_MS, shownPhotoCount } from '#shared/pilgrims/photo-count-cache.ts'
import { pilgrims } from '#shared/stores/schema/tables.ts'

/** Zero for a pilgrim who has sent none, known or not, or who may not share. */
export async function countPhotos({ db, kv }: ServiceContext, userId: string): Promise<PhotoCount> {
  const key = photoCountKey(userId)
  // Undefined: the kv is unavailable, and is not called a second time.
  const cached = await kv.cached(key).catch(() => undefined)
  if (cached != null) return { userId, photo_count: Number(cached) }
  return db.read(() =>
    db.transaction(async (tx) => {
      // The lock makes an erasure clear the cache after this write, not before it.
      await lockPersonShared(tx, userId)
      // The row's lock orders this before or after a withdrawal, which clears the cache.
      const [row] = await tx.orm.select().from(pilgrims).where(eq(pilgrims.userId, userId)).for('share')
      if (row === undefined) return { userId, photo_count: 0 }
      const shown = shownPhotoCount(row)
      if (cached === undefined) return { userId, photo_count: shown }
      // A value that a photo has cached meanwhile is newer than the row that was read.
      const count = await kv.cacheOnce(key, String(shown), PHOTO_COUNT_TTL_MS).catch(() => shown)
      return { userId, photo_count: Number(count) }
    }),
  )
}
