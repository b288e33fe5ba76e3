/** A pilgrim's card: the stored picture, or a new drawing when its content has changed. */
import { eq } from 'drizzle-orm'
import type { Renderer } from '#shared/runtime/picture-renderer/renderer.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { CARD_SIZE } from '#shared/contracts/cards.ts'
import type { StoredObject } from '#shared/stores/objects/objects.ts'
import { shareCards } from '#shared/stores/schema/tables.ts'
import { cardOf } from '../card-design/card.ts'
import { type Portrait, readPortrait } from './read-card-facts.ts'
import { cardRouteOf, readCardRoute } from './passed-stretch.ts'
import { beginCard, keyOf, recordCard, storeCard, unknownPilgrim } from './store-card.ts'

/** A picture and its ETag, without quotes. */
export type Picture = Pick<StoredObject, 'bytes' | 'etag'>

/** A pilgrim's card at one moment. */
export interface Look {
  readonly userId: string
  readonly named: boolean
  /** The pilgrim's generation, read before everything else. */
  readonly generation: number
  /** The content that the card should show. */
  readonly portrait: Portrait
  /** The stored card; null when none is stored. */
  readonly stored: Picture | null
  /** The stored card if it shows the portrait, else null. */
  readonly current: Picture | null
}

export interface Cards {
  /**
   * @param named whether the picture shows the pilgrim's name; default true
   * @throws Refusal 404 for an unknown pilgrim
   */
  look(userId: string, named?: boolean): Promise<Look>
  /**
   * Draws and stores a card. Concurrent calls for the same picture share one drawing.
   * @throws Refusal 503 when the queue is full; RenderFailed when this card cannot be drawn
   */
  draw(look: Look): Promise<Picture>
  /** Updates the stored card and its row. @throws as `look` and `draw` */
  bring(userId: string): Promise<void>
}

/** Creates the cards of one process. */
export function createCards(context: ServiceContext, renderer: Renderer): Cards {
  const { config, db, objects, metrics } = context
  const drawings = new Map<string, Promise<Picture>>()

  const look = async (userId: string, named = true): Promise<Look> => {
    // First, so that an erasure during the reads is detected.
    const generation = await beginCard(context, userId)
    const portrait = await readPortrait(context, userId, named)
    if (portrait === null) throw unknownPilgrim(userId)
    const stored = await objects.get(keyOf({ userId, named, portrait }))
    if (portrait.isNewcomer) return { userId, named, generation, portrait, stored, current: stored }
    const [row] = await db.read(() => db.orm.select().from(shareCards).where(eq(shareCards.userId, userId)))
    // The ETag differs from the row's when two replicas drew concurrently and the older picture was stored last.
    const [fingerprint, etag] = named
      ? [row?.fingerprint, row?.etag]
      : [row?.namelessFingerprint, row?.namelessEtag]
    const isCurrent = fingerprint === portrait.fingerprint && etag === stored?.etag
    return { userId, named, generation, portrait, stored, current: isCurrent ? stored : null }
  }

  const drawNew = async (seen: Look): Promise<Picture> => {
    const { userId, portrait } = seen
    const route = portrait.isNewcomer
      ? config.route && cardRouteOf(config.route, config.stations, [])
      : await readCardRoute(context, userId)
    const bytes = await renderer.renderPng(cardOf(portrait.facts, route), CARD_SIZE)
    const etag = await storeCard(context, seen, bytes)
    const { unlocked } = portrait.facts
    metrics.count('event_cards_drawn_total', { unlocked: String(unlocked) })
    return { bytes, etag }
  }

  const draw = (seen: Look): Promise<Picture> => {
    const { portrait } = seen
    const key = `${keyOf(seen)} ${portrait.fingerprint} ${seen.generation}`
    let promise = drawings.get(key)
    if (promise === undefined) {
      promise = drawNew(seen).finally(() => drawings.delete(key))
      drawings.set(key, promise)
    }
    return promise
  }

  return {
    look,
    draw,
    async bring(userId) {
      const seen = await look(userId)
      if (seen.current === null) await draw(seen)
      else if (!seen.portrait.isNewcomer) await recordCard(context, seen, seen.current.etag)
    },
  }
}
