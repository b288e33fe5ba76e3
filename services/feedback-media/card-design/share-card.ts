/** The design of the share card: pilgrim and level over evening hills, the event's route on a round map. */
import { box, drawing, type Element } from '#shared/picture-renderer/element.ts'
import { CARD_SIZE } from '#shared/contracts/cards.ts'
import { eveningHills } from './backdrops.ts'
import type { CardFacts, CardRoute } from './card-facts.ts'
import { GOLD, GOLD_LIGHT, paletteOf } from './palette.ts'
import { emblemField, eventLine, figures, levelLines, nameLine, progress } from './parts.ts'
import { routeMap } from './route-map.ts'

const COLUMN_PX = 640

const PADLOCK = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">
  <path d="M30 46 V32 a20 20 0 0 1 40 0 V46" fill="none" stroke="${GOLD_LIGHT}" stroke-width="10" stroke-linecap="round"/>
  <rect x="18" y="44" width="64" height="46" rx="9" fill="${GOLD}"/>
  <path d="M50 60 V74" stroke="#2b1a08" stroke-width="9" stroke-linecap="round"/></svg>`

/** Shows that the achievement card is locked. */
const lockedSign = (): Element =>
  box(
    { position: 'absolute', left: 690, top: 540, alignItems: 'center' },
    drawing(PADLOCK, 38, 38),
    box({ fontSize: 25, color: GOLD_LIGHT, marginLeft: 10 }, '成就卡未解鎖 · Locked'),
  )

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
    lockedSign(),
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
      levelLines(facts),
      figures(facts, { width: COLUMN_PX - 40 }),
      progress(facts, COLUMN_PX - 40),
    ),
  )
}
