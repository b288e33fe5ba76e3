/** Applies a webhook event once: its changes and `applied_at` are written in one transaction. */
import { and, count, eq, isNull, lte, type SQL, sql } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import type { LineEvent } from '#shared/contracts/bot.ts'
import { isUserId } from '#shared/contracts/fields.ts'
import { photoCountKey, PHOTO_COUNT_TTL_MS, shownPhotoCount } from '#shared/pilgrims/photo-count-cache.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { followers, lineEvents, pilgrims } from '#shared/stores/schema/tables.ts'
import { ensurePilgrim, isErasedSince, mayWrite } from '#shared/pilgrims/person-lock.ts'

/** @returns the user id of the sender; null if LINE does not send it */
export function senderOf({ source }: LineEvent): string | null {
  const userId = source?.userId
  return userId !== undefined && isUserId(userId) ? userId : null
}

const isOneToOne = ({ source }: LineEvent): boolean => source?.type === 'user'

export const mentionsOf = ({ message }: LineEvent) => message?.mention?.mentionees ?? []

/** Whether an event is for the bot: one-to-one, a button, or a mention in a group. Other events are not stored. */
export const isForBot = (event: LineEvent): boolean =>
  isOneToOne(event) || event.type === 'postback' || mentionsOf(event).some(({ isSelf }) => isSelf === true)

/** Only photos of one-to-one chats count. */
const isPhoto = (event: LineEvent): boolean =>
  event.type === 'message' && event.message?.type === 'image' && isOneToOne(event)

/**
 * Applies an event. A repetition changes nothing.
 * @returns false when the sender was erased after the event; the event is then discarded
 */
export async function applyWebhookEvent({ db, now }: ServiceContext, event: LineEvent): Promise<boolean> {
  const userId = senderOf(event)
  return db.transaction(async (tx) => {
    if (userId !== null && (await isErasedSince(tx, userId, event.timestamp))) return false
    const fresh = await tx.orm
      .update(lineEvents)
      .set({ appliedAt: new Date(now()) })
      .where(and(eq(lineEvents.webhookEventId, event.webhookEventId), isNull(lineEvents.appliedAt)))
      .returning({ id: lineEvents.webhookEventId })
    // Talking in a group does not make a person a pilgrim.
    if (fresh.length === 0 || userId === null || !isOneToOne(event)) return true
    // The bot answers an erased person without a new consent, but stores nothing.
    if (!(await mayWrite(tx, userId, event.timestamp))) return true
    await recordReachability(tx, event, userId)
    if (event.type === 'unfollow') return true
    await ensurePilgrim(tx, userId, now())
    if (isPhoto(event)) await countPhoto(tx, event, userId, now())
    if (event.unsend !== undefined) await uncountPhoto(tx, event, userId, now())
    return true
  })
}

/**
 * Updates the cached photo count of the sender, if the event is a photo or unsends one.
 * @throws KvUnavailable; the cache may then contain an older count until it expires
 */
export async function cachePhotoCount({ db, kv }: ServiceContext, event: LineEvent): Promise<void> {
  const userId = senderOf(event)
  if (userId === null || !(isPhoto(event) || event.unsend !== undefined)) return
  await db.transaction(async (tx) => {
    // The lock orders the writes of two photos, so that the newer count is written last.
    const [row] = await tx.orm.select().from(pilgrims).where(eq(pilgrims.userId, userId)).for('update')
    if (row !== undefined)
      await kv.cache(photoCountKey(userId), String(shownPhotoCount(row)), PHOTO_COUNT_TTL_MS)
  })
}

/**
 * A person who writes to the account can be reached. Events may arrive late and out of order: the newest one decides.
 */
async function recordReachability(tx: Tx, { type, timestamp }: LineEvent, userId: string): Promise<void> {
  const fields = { reachable: type !== 'unfollow', changedAt: new Date(timestamp) }
  await tx.orm
    .insert(followers)
    .values({ userId, ...fields })
    .onConflictDoUpdate({
      target: followers.userId,
      set: fields,
      setWhere: lte(followers.changedAt, fields.changedAt),
    })
}

const addPhotos = (tx: Tx, userId: string, change: 1 | -1, nowMs: number) =>
  tx.orm
    .update(pilgrims)
    .set({ photoCount: sql`greatest(${pilgrims.photoCount} + ${change}, 0)`, updatedAt: new Date(nowMs) })
    .where(eq(pilgrims.userId, userId))

/** Counts a photo, unless it was unsent: events may arrive out of order. */
async function countPhoto(tx: Tx, event: LineEvent, userId: string, nowMs: number): Promise<void> {
  const { id: photoId = null, imageSet } = event.message!
  // The update locks the row of the pilgrim, which serializes photos of a set.
  await addPhotos(tx, userId, 1, nowMs)
  const isUnsent = photoId !== null && (await countEvents(tx, eq(lineEvents.unsentId, photoId))) > 0
  if (isUnsent) await addPhotos(tx, userId, -1, nowMs)
  const imageSetId = imageSet?.id ?? null
  // The first photo of a set is answered for all of them.
  const isFollowing = imageSetId !== null && (await countImageSet(tx, imageSetId)) > 0
  await tx.orm
    .update(lineEvents)
    .set({
      photoId: isUnsent ? null : photoId,
      imageSetId,
      ...(isFollowing && { answeredAt: new Date(nowMs) }),
    })
    .where(eq(lineEvents.webhookEventId, event.webhookEventId))
}

async function countEvents(tx: Tx, which: SQL): Promise<number> {
  const [row] = await tx.orm.select({ n: count() }).from(lineEvents).where(which)
  return row!.n
}

/** Number of applied photos of a set. */
export const countImageSet = (tx: Tx, imageSetId: string): Promise<number> =>
  countEvents(tx, eq(lineEvents.imageSetId, imageSetId))

async function uncountPhoto(tx: Tx, event: LineEvent, userId: string, nowMs: number): Promise<void> {
  const { messageId } = event.unsend!
  // The lock of the pilgrim's row orders this before or after a photo that is being applied.
  await tx.orm.select({ id: pilgrims.userId }).from(pilgrims).where(eq(pilgrims.userId, userId)).for('update')
  const counted = await tx.orm
    .update(lineEvents)
    .set({ photoId: null })
    .where(eq(lineEvents.photoId, messageId))
    .returning({ id: lineEvents.webhookEventId })
  if (counted.length > 0) await addPhotos(tx, userId, -1, nowMs)
  await tx.orm
    .update(lineEvents)
    .set({ unsentId: messageId })
    .where(eq(lineEvents.webhookEventId, event.webhookEventId))
}
