/** Chooses the design of a pilgrim's card. */
import type { Element } from '#shared/runtime/picture-renderer/element.ts'
import { achievementCard } from './achievement-card.ts'
import type { CardFacts, CardRoute } from './card-facts.ts'
import { shareCard } from './share-card.ts'

/** The achievement card when it is unlocked, else the share card. @param route null: the event has none */
export const cardOf = (facts: CardFacts, route: CardRoute | null): Element =>
  facts.unlocked ? achievementCard(facts, route) : shareCard(facts, route)
