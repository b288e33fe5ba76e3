/** A pilgrim's card: drawn when something on it has changed, found otherwise. */
import { eq } from 'drizzle-orm'
import type { Renderer } from '#shared/cards/renderer.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { type CardAnswer, CARD_SIZE } from '#shared/contracts/cards.ts'
import { isUserId } from '#shared/contracts/fields.ts'
import { notFound } from '#shared/http/errors.ts'
import type { StoredObject } from '#shared/objects/objects.ts'
import { shareCards } from '#shared/schema/cards.ts'
import { cardKey } from '#shared/objects/pictures.ts'
import { cardOf } from './cards/card.ts'
import { readPortrait, readTrack } from './cards/read-facts.ts'

type Row = typeof shareCards.$inferInsert

export interface Cards {
  /**
   * Brings the stored card to what it is to show now.
   * @throws Refusal 404 for an unknown pilgrim, 503 when too many cards wait
   */
  bring(userId: string): Promise<{ readonly etag: string; readonly drawn: boolean }>
}

/** Cards of one process; two calls for one pilgrim at the same time share one drawing. */
export function createCards(context: ServiceContext, renderer: Renderer): Cards {
  const { db, objects, metrics, now } = context
  const underWay = new Map<string, ReturnType<Cards['bring']>>()

  const remember = async (row: Omit<Row, 'checkedAt'>): Promise<void> => {
    const values = { ...row, checkedAt: new Date(now()), failedAt: row.failedAt ?? null }
    await db.orm
      .insert(shareCards)
      .values(values)
      .onConflictDoUpdate({ target: shareCards.userId, set: values })
  }

  const bring = async (userId: string) => {
    // Before anything is read: what changes meanwhile is then seen as a change.
    const portrait = await readPortrait(context, userId)
    if (portrait === null) throw notFound(`Nothing is known of a pilgrim with the id ${userId}.`)
    const { facts, fingerprint, storedPoints } = portrait
    const row = { userId, fingerprint, unlocked: facts.unlocked, points: storedPoints }
    const [held] = await db.read(() => db.orm.select().from(shareCards).where(eq(shareCards.userId, userId)))
    if (held?.fingerprint === fingerprint) {
      const stored = await objects.head(cardKey(userId))
      // Another tag than the row's: two replicas drew at the same time, and the older picture was stored last.
      if (stored !== null && stored.etag === held.etag) {
        await remember({ ...row, etag: stored.etag })
        return { etag: stored.etag, drawn: false }
      }
    }
    const png = await renderer.renderPng(cardOf(facts, await readTrack(context, userId)), CARD_SIZE)
    const { etag } = await objects.put(cardKey(userId), png, { contentType: 'image/png' })
    await remember({ ...row, etag })
    metrics.count('cards_drawn_total', 'Share cards drawn', { unlocked: String(facts.unlocked) })
    return { etag, drawn: true }
  }

  return {
    bring(userId) {
      let promise = underWay.get(userId)
      if (promise === undefined) {
        promise = bring(userId).finally(() => underWay.delete(userId))
        underWay.set(userId, promise)
      }
      return promise
    },
  }
}

/** `POST og-image`. */
export async function drawCard(
  { config }: ServiceContext,
  cards: Cards,
  userId: string,
): Promise<CardAnswer> {
  const { etag } = await cards.bring(userId)
  return { url: `${config.publicUrl}/api/event/og/${userId}.png`, ...CARD_SIZE, etag: `"${etag}"` }
}

/**
 * The stored card, as it is; drawn for a known pilgrim who has none.
 * @throws Refusal 404 for anything but a known pilgrim's card
 */
export async function findCard(
  { objects }: ServiceContext,
  cards: Cards,
  file: string,
): Promise<Pick<StoredObject, 'bytes' | 'etag'>> {
  const userId = file.endsWith('.png') ? file.slice(0, -'.png'.length) : ''
  if (!isUserId(userId)) throw notFound('There is no card of that name.')
  const key = cardKey(userId)
  const stored = await objects.get(key)
  if (stored !== null) return stored
  await cards.bring(userId)
  const drawn = await objects.get(key)
  if (drawn === null) throw notFound('The card was taken away while it was drawn.')
  return drawn
}
