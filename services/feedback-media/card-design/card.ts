/** The card that a pilgrim gets. */
import type { Element } from '#shared/cards/element.ts'
import { achievementCard } from './achievement-card.ts'
import type { CardFacts, Fix } from './card-facts.ts'
import { shareCard } from './share-card.ts'

/** The festive one when the achievement is unlocked. @param track where they walked, in order of time */
export const cardOf = (facts: CardFacts, track: readonly Fix[]): Element =>
  facts.unlocked ? achievementCard(facts, track) : shareCard(facts, track)
