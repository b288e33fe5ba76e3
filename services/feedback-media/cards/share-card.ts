/** The share card of every day: the pilgrim's level over evening hills, their way in a medallion. */
import { box, drawing, type Element } from '#shared/cards/element.ts'
import { CARD_SIZE } from '#shared/contracts/cards.ts'
import { eveningHills } from './backdrops.ts'
import type { CardFacts, Fix } from './card-facts.ts'
import { medallion, outlineIn } from './medallion.ts'
import { GOLD, GOLD_LIGHT, paletteOf } from './palette.ts'
import { eventLine, figures, nameLine, progress, realm } from './parts.ts'

const COLUMN_PX = 620

const heading = (facts: CardFacts): Element =>
  box(
    { flexDirection: 'column' },
    box(
      { alignItems: 'center', fontSize: 23, color: GOLD, marginBottom: 2 },
      box({ letterSpacing: 4 }, realm(facts.level.level)),
      box({ width: 42, height: 1, backgroundColor: GOLD, margin: '0 14px', opacity: 0.7 }),
      box({ fontSize: 18, letterSpacing: 3 }, `LEVEL ${facts.level.level}`),
    ),
    box(
      { fontSize: 134, fontWeight: 700, color: '#fff', lineHeight: 1.12, letterSpacing: 6 },
      facts.level.zh,
    ),
    box({ fontSize: 32, color: GOLD_LIGHT, letterSpacing: 2.5, marginTop: 4 }, facts.level.en),
  )

const icon = (emoji: string, level: number): Element =>
  box(
    {
      position: 'absolute',
      left: 1006,
      top: 416,
      width: 128,
      height: 128,
      borderRadius: 64,
      alignItems: 'center',
      justifyContent: 'center',
      backgroundColor: paletteOf(level).deep,
      border: `4px solid ${GOLD}`,
      fontSize: 74,
      lineHeight: 1,
    },
    emoji,
  )

const waitingWords = (): Element =>
  box(
    { position: 'absolute', left: 710, top: 552, width: 440, flexDirection: 'column', alignItems: 'center' },
    box({ fontSize: 24, color: GOLD_LIGHT, letterSpacing: 4 }, '旅程即將展開'),
  )

/** @param track where they walked; empty for a pilgrim without points */
export function shareCard(facts: CardFacts, track: readonly Fix[]): Element {
  const colours = paletteOf(facts.level.level)
  const outline = outlineIn(track)
  return box(
    { width: CARD_SIZE.width, height: CARD_SIZE.height, position: 'relative', color: '#fff' },
    drawing(eveningHills(colours), CARD_SIZE.width, CARD_SIZE.height, {
      position: 'absolute',
      left: 0,
      top: 0,
    }),
    drawing(medallion(outline, colours), 440, 440, { position: 'absolute', left: 710, top: 80 }),
    icon(facts.level.icon, facts.level.level),
    ...(outline === null ? [waitingWords()] : []),
    box(
      {
        position: 'absolute',
        left: 64,
        top: 46,
        width: COLUMN_PX,
        height: 538,
        flexDirection: 'column',
        justifyContent: 'space-between',
      },
      box({ flexDirection: 'column' }, eventLine(facts, COLUMN_PX), nameLine(facts, COLUMN_PX, 46)),
      heading(facts),
      figures(facts, { width: COLUMN_PX }),
      progress(facts, COLUMN_PX),
    ),
  )
}
