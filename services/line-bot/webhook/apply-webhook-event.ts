/** What an event changes: once, in one transaction with the mark that it has been applied. */
import { and, eq, isNull, lte, sql } from 'drizzle-orm'
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { LineEvent } from '#shared/contracts/bot.ts'
import { isUserId } from '#shared/contracts/fields.ts'
import { photoCountKey, PHOTO_COUNT_TTL_MS } from '#shared/pilgrims/photo-count-cache.ts'
import type { Writer } from '#shared/bus/outbox.ts'
import { followers, lineEvents } from '#shared/schema/messages.ts'
import { ensurePilgrim } from '#shared/pilgrims/ensure-pilgrim.ts'
import { isErasedSince } from '#shared/pilgrims/person-lock.ts'
import { pilgrims } from '#shared/schema/profiles.ts'

/** The person an event comes from; null where LINE does not say. */
export function senderOf({ source }: LineEvent): string | null {
  const userId = source?.userId
  return userId !== undefined && isUserId(userId) ? userId : null
}

export const isOneToOne = ({ source }: LineEvent): boolean => source?.type === 'user'

export const mentionsOf = ({ message }: LineEvent) => message?.mention?.mentionees ?? []

/** What is said to the bot: one-to-one, or in a group by a button or with its name. The rest is not kept at all. */
export const isForBot = (event: LineEvent): boolean =>
  isOneToOne(event) || event.type === 'postback' || mentionsOf(event).some(({ isSelf }) => isSelf === true)

/** Photos are those that are sent to the bot itself. */
const isPhoto = (event: LineEvent): boolean =>
  event.type === 'message' && event.message?.type === 'image' && isOneToOne(event)

/**
 * Applies an event unless it has been; then its repetition changes nothing.
 * @returns false: the sender has been erased since, and it is to be forgotten
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
    // A group's members are no pilgrims for having talked there.
    if (fresh.length === 0 || userId === null || !isOneToOne(event)) return true
    if (event.type === 'follow' || event.type === 'unfollow') await noteReach(tx, event, userId)
    else await noteReach(tx, { ...event, type: 'follow' }, userId)
    if (event.type === 'unfollow') return true
    await ensurePilgrim(tx, userId, now())
    if (isPhoto(event)) await countPhoto(tx, userId, now())
    return true
  })
}

/**
 * Brings the cache of the sender's photo count up to the table, where the event is a photo.
 * @throws KvUnavailable: the cache may hold an older count, for as long as it keeps it
 */
export async function cachePhotoCount({ db, kv }: ServiceContext, event: LineEvent): Promise<void> {
  const userId = senderOf(event)
  if (userId === null || !isPhoto(event)) return
  await db.orm.transaction(async (tx) => {
    // Locked, so that of two photos the older count never comes last.
    const mine = tx.select({ count: pilgrims.photoCount }).from(pilgrims).where(eq(pilgrims.userId, userId))
    const [row] = await mine.for('update')
    if (row !== undefined) await kv.cache(photoCountKey(userId), String(row.count), PHOTO_COUNT_TTL_MS)
  })
}

/** Events may come late and out of order: the youngest word on whether someone can be reached holds. */
async function noteReach(tx: Writer, { type, timestamp }: LineEvent, userId: string): Promise<void> {
  const fields = { reachable: type === 'follow', changedAt: new Date(timestamp) }
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
