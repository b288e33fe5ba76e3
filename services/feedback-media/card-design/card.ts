/** Chooses the design of a pilgrim's card. */
import type { Element } from '#shared/picture-renderer/element.ts'
import { achievementCard } from './achievement-card.ts'
import type { CardFacts, Fix } from './card-facts.ts'
import { shareCard } from './share-card.ts'

/** The achievement card when it is unlocked, else the share card. @param track walked positions, ordered by time */
export const cardOf = (facts: CardFacts, track: readonly Fix[]): Element =>
  facts.unlocked ? achievementCard(facts, track) : shareCard(facts, track)
