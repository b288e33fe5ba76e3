/** A pilgrim's card: the stored picture, or a new drawing when its content has changed. */
import { eq } from 'drizzle-orm'
import type { Renderer } from '#shared/runtime/picture-renderer/renderer.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { CARD_SIZE } from '#shared/contracts/cards.ts'
import type { StoredObject } from '#shared/stores/objects/objects.ts'
import { shareCards } from '#shared/stores/schema/tables.ts'
import { cardOf } from './card-layout.ts'
import { type Portrait, readPortrait } from './read-card-facts.ts'
import { cardRouteOf, readCardRoute } from './passed-stretch.ts'
import { beginCard, keyOf, recordCard, storeCard, unknownPilgrim } from './store-card.ts'

/** A picture and its ETag, without quotes. */
export type Picture = Pick<StoredObject, 'bytes' | 'etag'>

export interface Look {
  readonly userId: string
  readonly named: boolean
  /** The pilgrim's generation, read before everything else. */
  readonly generation: number
  readonly portrait: Portrait
  readonly stored: Picture | null
  /** The stored card if it shows the portrait, else null. */
  readonly current: Picture | null
}

export type Cards = ReturnType<typeof createCards>

export function createCards(context: ServiceContext, renderer: Renderer) {
  const { db, event, objects, metrics } = context
  const drawings = new Map<string, Promise<Picture>>()

  /** @param named whether the picture shows the pilgrim's name @throws Refusal 404 for an unknown pilgrim */
  const look = async (userId: string, named = true): Promise<Look> => {
    // Read first, so that an erasure during the other reads is detected.
    const generation = await beginCard(context, userId)
    const portrait = await readPortrait(context, userId, named)
    if (portrait === null) throw unknownPilgrim(userId)
    const stored = await objects.get(keyOf({ userId, named, portrait }))
    if (portrait.isNewcomer) return { userId, named, generation, portrait, stored, current: stored }
    const [row] = await db.read(() => db.orm.select().from(shareCards).where(eq(shareCards.userId, userId)))
    // The ETag differs from the row's if two replicas drew concurrently and the older picture was stored last.
    const [fingerprint, etag] = named
      ? [row?.fingerprint, row?.etag]
      : [row?.namelessFingerprint, row?.namelessEtag]
    const isCurrent = fingerprint === portrait.fingerprint && etag === stored?.etag
    return { userId, named, generation, portrait, stored, current: isCurrent ? stored : null }
  }

  const drawNew = async (seen: Look): Promise<Picture> => {
    const { userId, portrait } = seen
    const route = portrait.isNewcomer
      ? event.current.route && cardRouteOf(event.current.route, event.current.stations, [])
      : await readCardRoute(context, userId)
    const bytes = await renderer.renderPng(cardOf(portrait.facts, route), CARD_SIZE)
    const etag = await storeCard(context, seen, bytes)
    const { unlocked } = portrait.facts
    metrics.count('event_cards_drawn_total', { unlocked: String(unlocked) })
    return { bytes, etag }
  }

  /**
   * Draws and stores a card. Concurrent calls for the same picture share one drawing.
   * @throws Refusal 503 when the queue is full; RenderFailed when this card cannot be drawn
   */
  const draw = (seen: Look): Promise<Picture> => {
    const { portrait } = seen
    const key = `${keyOf(seen)} ${portrait.fingerprint} ${seen.generation}`
    return drawings.getOrInsertComputed(key, () => drawNew(seen).finally(() => drawings.delete(key)))
  }

  return {
    look,
    draw,
    /** Updates the stored card and its row. @throws as `look` and `draw` */
    async bring(userId: string): Promise<void> {
      const seen = await look(userId)
      if (seen.current === null) await draw(seen)
      else if (!seen.portrait.isNewcomer) await recordCard(context, seen, seen.current.etag)
    },
  }
}
