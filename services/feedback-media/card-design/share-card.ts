/** The design of the share card: pilgrim and level over evening hills, the event's route on a round map. */
import { box, drawing, type Element } from '#shared/runtime/picture-renderer/element.ts'
import { CARD_SIZE } from '#shared/contracts/cards.ts'
import { eveningHills } from './backdrops.ts'
import type { CardFacts, CardRoute } from './card-facts.ts'
import { paletteOf } from './palette.ts'
import { emblemField, eventLine, figures, levelLines, nameLine, progress } from './parts.ts'
import { routeMap } from './route-map.ts'

const COLUMN_PX = 640

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
        width: COLUMN_PX,
        height: 544,
        flexDirection: 'column',
        justifyContent: 'space-between',
      },
      box({ flexDirection: 'column' }, eventLine(facts, COLUMN_PX), nameLine(facts, COLUMN_PX, 100)),
      levelLines(facts, 52),
      figures(facts, { width: COLUMN_PX - 40 }),
      progress(facts, COLUMN_PX - 40),
    ),
  )
}
