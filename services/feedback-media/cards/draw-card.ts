/** A pilgrim's card: drawn when something on it has changed, found otherwise. */
import { eq } from 'drizzle-orm'
import type { Renderer } from '#shared/cards/renderer.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { CARD_SIZE } from '#shared/contracts/cards.ts'
import type { StoredObject } from '#shared/objects/objects.ts'
import { shareCards } from '#shared/schema/cards.ts'
import { cardOf } from '../card-design/card.ts'
import { type Portrait, readPortrait, readTrack } from './read-card-facts.ts'
import { beginCard, keyOf, noteCard, storeCard, unknownPilgrim } from './store-card.ts'

/** A picture and its tag, without quotes. */
export type Picture = Pick<StoredObject, 'bytes' | 'etag'>

/** A pilgrim's card at one moment. */
export interface Look {
  readonly userId: string
  /** What it is to show. */
  /** How often the pilgrim had been erased before anything of this was read. */
  readonly generation: number
  readonly portrait: Portrait
  /** What is stored; null: nothing. */
  readonly stored: Picture | null
  /** What is stored, if it shows what it is to show. */
  readonly current: Picture | null
}

export interface Cards {
  /** @throws Refusal 404 for an unknown pilgrim */
  look(userId: string): Promise<Look>
  /**
   * Draws and stores what a look was to show. Two calls for the same picture at the same time share one drawing.
   * @throws Refusal 503 when too many cards wait; RenderFailed when this one cannot be drawn
   */
  draw(look: Look): Promise<Picture>
  /** Brings the stored card to what it is to show now, and notes it. @throws as `look` and `draw` */
  bring(userId: string): Promise<void>
}

/** Cards of one process. */
export function createCards(context: ServiceContext, renderer: Renderer): Cards {
  const { db, objects, metrics } = context
  const underWay = new Map<string, Promise<Picture>>()

  const look = async (userId: string): Promise<Look> => {
    // Before anything is read: what changes meanwhile is then seen as a change.
    const generation = await beginCard(context, userId)
    const portrait = await readPortrait(context, userId)
    if (portrait === null) throw unknownPilgrim(userId)
    const stored = await objects.get(keyOf(userId, portrait))
    if (portrait.isNewcomer) return { userId, generation, portrait, stored, current: stored }
    const [held] = await db.read(() => db.orm.select().from(shareCards).where(eq(shareCards.userId, userId)))
    // Another tag than the row's: two replicas drew at the same time, and the older picture was stored last.
    const isCurrent = held?.fingerprint === portrait.fingerprint && held.etag === stored?.etag
    return { userId, generation, portrait, stored, current: isCurrent ? stored : null }
  }

  const drawAnew = async (seen: Look): Promise<Picture> => {
    const { userId, portrait } = seen
    const track = portrait.isNewcomer ? [] : await readTrack(context, userId)
    const bytes = await renderer.renderPng(cardOf(portrait.facts, track), CARD_SIZE)
    const etag = await storeCard(context, seen, bytes)
    const { unlocked } = portrait.facts
    metrics.count('event_cards_drawn_total', 'Share cards drawn', { unlocked: String(unlocked) })
    return { bytes, etag }
  }

  const draw = (seen: Look): Promise<Picture> => {
    const { userId, portrait } = seen
    const name = `${keyOf(userId, portrait)} ${portrait.fingerprint} ${seen.generation}`
    let promise = underWay.get(name)
    if (promise === undefined) {
      promise = drawAnew(seen).finally(() => underWay.delete(name))
      underWay.set(name, promise)
    }
    return promise
  }

  return {
    look,
    draw,
    async bring(userId) {
      const seen = await look(userId)
      if (seen.current === null) await draw(seen)
      else if (!seen.portrait.isNewcomer) await noteCard(context, seen, seen.current.etag)
    },
  }
}
