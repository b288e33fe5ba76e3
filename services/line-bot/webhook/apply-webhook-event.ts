/** Applies a webhook event once: its changes and `applied_at` are written in one transaction. */
import { and, eq, isNull, lte, sql } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import type { LineEvent } from '#shared/contracts/bot.ts'
import { isUserId } from '#shared/contracts/fields.ts'
import { photoCountKey, PHOTO_COUNT_TTL_MS } from '#shared/pilgrims/photo-count-cache.ts'
import type { Writer } from '#shared/stores/bus/outbox.ts'
import { followers, lineEvents, pilgrims } from '#shared/stores/schema/tables.ts'
import { ensurePilgrim, isErasedSince, mayWrite } from '#shared/pilgrims/person-lock.ts'

/** @returns the user id of the sender; null where LINE does not send it */
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
  return db.orm.transaction(async (tx) => {
    if (userId !== null && (await isErasedSince(tx, userId, event.timestamp))) return false
    const fresh = await tx
      .update(lineEvents)
      .set({ appliedAt: new Date(now()) })
      .where(and(eq(lineEvents.webhookEventId, event.webhookEventId), isNull(lineEvents.appliedAt)))
      .returning({ id: lineEvents.webhookEventId })
    // Talking in a group does not make a person a pilgrim.
    if (fresh.length === 0 || userId === null || !isOneToOne(event)) return true
    // The bot answers a person who was erased and did not consent anew, and stores nothing.
    if (!(await mayWrite(tx, userId, event.timestamp))) return true
    await recordReachability(tx, event, userId)
    if (event.type === 'unfollow') return true
    await ensurePilgrim(tx, userId, now())
    if (isPhoto(event)) await countPhoto(tx, userId, now())
    return true
  })
}

/**
 * Updates the cached photo count of the sender, where the event is a photo.
 * @throws KvUnavailable; the cache may then hold an older count until it expires
 */
export async function cachePhotoCount({ db, kv }: ServiceContext, event: LineEvent): Promise<void> {
  const userId = senderOf(event)
  if (userId === null || !isPhoto(event)) return
  await db.orm.transaction(async (tx) => {
    // The lock orders the writes of two photos, so that the newer count is written last.
    const mine = tx.select({ count: pilgrims.photoCount }).from(pilgrims).where(eq(pilgrims.userId, userId))
    const [row] = await mine.for('update')
    if (row !== undefined) await kv.cache(photoCountKey(userId), String(row.count), PHOTO_COUNT_TTL_MS)
  })
}

/**
 * Whoever talks to the account can be reached. Events may arrive late and out of order: the newest one decides whether
 * a person is reachable.
 */
async function recordReachability(tx: Writer, { type, timestamp }: LineEvent, userId: string): Promise<void> {
  const fields = { reachable: type !== 'unfollow', changedAt: new Date(timestamp) }
  await tx
    .insert(followers)
    .values({ userId, ...fields })
    .onConflictDoUpdate({
      target: followers.userId,
      set: fields,
      setWhere: lte(followers.changedAt, fields.changedAt),
    })
}

async function countPhoto(tx: Writer, userId: string, nowMs: number): Promise<void> {
  await tx
    .update(pilgrims)
    .set({ photoCount: sql`${pilgrims.photoCount} + 1`, updatedAt: new Date(nowMs) })
    .where(eq(pilgrims.userId, userId))
}
