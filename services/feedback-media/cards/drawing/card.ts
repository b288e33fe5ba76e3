/** Chooses the design of a pilgrim's card. */
import { type Element, box, drawing } from '#shared/runtime/picture-renderer/element.ts'
import { type CardFacts, type CardRoute, cardWords } from './card-facts.ts'
import { CARD_SIZE } from '#shared/contracts/cards.ts'
import { eveningHills, feast } from './backdrops.ts'
import { paletteOf, GOLD, GOLD_LIGHT, SEAL } from './palette.ts'
import { emblemField, eventLine, figures, levelLines, nameLine } from './parts.ts'
import { routeMap } from './route-map.ts'
import { LEVELS } from '#shared/core/rules/levels.ts'

/** The achievement card when it is unlocked, else the share card. @param route null: the event has none */
export const cardOf = (facts: CardFacts, route: CardRoute | null): Element =>
  facts.unlocked ? achievementCard(facts, route) : shareCard(facts, route)

// The design of the share card: pilgrim and level over evening hills, the event's route on a round map.

const SHARE_COLUMN_PX = 640

/** @param route null: the event has none */
export function shareCard(facts: CardFacts, route: CardRoute | null): Element {
  const { level } = facts.level
  const colours = paletteOf(level)
  return box(
    { width: CARD_SIZE.width, height: CARD_SIZE.height, position: 'relative', color: '#fff' },
    drawing(eveningHills(colours), CARD_SIZE.width, CARD_SIZE.height, {
      position: 'absolute',
      left: 0,
      top: 0,
    }),
    routeMap(route, colours, { left: 728, top: 62, size: 424 }),
    emblemField(level, { left: 1020, top: 392, size: 138 }),
    box(
      {
        position: 'absolute',
        left: 60,
        top: 44,
        width: SHARE_COLUMN_PX,
        height: 544,
        flexDirection: 'column',
        justifyContent: 'space-between',
      },
      box(
        { flexDirection: 'column' },
        eventLine(facts, SHARE_COLUMN_PX),
        nameLine(facts, SHARE_COLUMN_PX, 100),
      ),
      levelLines(facts, 52),
      figures(facts, { width: SHARE_COLUMN_PX }),
    ),
  )
}

// The design of the achievement card.

const ACHIEVEMENT_COLUMN_PX = 600

const ribbon = ({ language }: CardFacts): Element =>
  box(
    {
      marginBottom: 8,
      padding: '2px 22px',
      borderRadius: 24,
      backgroundColor: GOLD,
      color: '#4a1608',
      fontSize: 38,
      fontWeight: 700,
    },
    cardWords(language).achieved,
  )

/** The seal is 功德圓滿 ("merit is complete") on the last level, and 一步一印 ("each step leaves its mark") on the others. */
const sealWords = (level: number): readonly [string, string] =>
  level === LEVELS.length ? ['功德', '圓滿'] : ['一步', '一印']

const seal = (level: number): Element =>
  box(
    {
      position: 'absolute',
      left: 384,
      top: 444,
      width: 104,
      height: 104,
      borderRadius: 12,
      alignItems: 'center',
      justifyContent: 'center',
      backgroundColor: SEAL,
      border: `4px solid ${GOLD_LIGHT}`,
      color: GOLD_LIGHT,
      fontSize: 39,
      fontWeight: 700,
      lineHeight: 1.08,
      transform: 'rotate(-6deg)',
    },
    box({ flexDirection: 'column', alignItems: 'center' }, ...sealWords(level)),
  )

/** @param route null: the event has none */
function achievementCard(facts: CardFacts, route: CardRoute | null): Element {
  const { level } = facts.level
  const colours = paletteOf(level)
  return box(
    { width: CARD_SIZE.width, height: CARD_SIZE.height, position: 'relative', color: '#fff' },
    drawing(feast(colours), CARD_SIZE.width, CARD_SIZE.height, { position: 'absolute', left: 0, top: 0 }),
    routeMap(route, colours, { left: 58, top: 106, size: 424 }),
    emblemField(level, { left: 52, top: 72, size: 138 }),
    seal(level),
    box(
      {
        position: 'absolute',
        left: 536,
        top: 46,
        width: ACHIEVEMENT_COLUMN_PX,
        height: 540,
        flexDirection: 'column',
        justifyContent: 'space-between',
      },
      box({ flexDirection: 'column' }, eventLine(facts, 440), nameLine(facts, 450, 84)),
      box({ flexDirection: 'column', alignItems: 'flex-start' }, ribbon(facts), levelLines(facts, 64)),
      figures(facts, { width: ACHIEVEMENT_COLUMN_PX }),
    ),
  )
}
