/** The card of an unlocked achievement: a feast. */
import { box, drawing, type Element } from '#shared/cards/element.ts'
import { CARD_SIZE } from '#shared/contracts/cards.ts'
import { feast } from './backdrops.ts'
import type { CardFacts, Fix } from './card-facts.ts'
import { medallion, outlineIn } from './medallion.ts'
import { GOLD, GOLD_DEEP, GOLD_LIGHT, paletteOf, SEAL } from './palette.ts'
import { eventLine, figures, nameLine, progress, realm } from './parts.ts'

const COLUMN_PX = 610

const ribbon = (level: number): Element =>
  box(
    {
      alignItems: 'center',
      padding: '7px 24px',
      borderRadius: 24,
      backgroundImage: `linear-gradient(90deg, ${GOLD_DEEP}, ${GOLD_LIGHT}, ${GOLD_DEEP})`,
      color: '#4a1608',
      fontWeight: 700,
    },
    box({ fontSize: 23, letterSpacing: 4 }, `${realm(level)} · 成就達成`),
    box({ fontSize: 15, letterSpacing: 1.6, marginLeft: 14 }, 'ACHIEVEMENT UNLOCKED'),
  )

const seal = (): Element =>
  box(
    {
      position: 'absolute',
      left: 378,
      top: 428,
      width: 92,
      height: 92,
      borderRadius: 12,
      flexWrap: 'wrap',
      alignItems: 'center',
      justifyContent: 'center',
      backgroundColor: SEAL,
      border: `4px solid ${GOLD_LIGHT}`,
      color: GOLD_LIGHT,
      fontSize: 34,
      fontWeight: 700,
      lineHeight: 1.08,
      textAlign: 'center',
      transform: 'rotate(-6deg)',
    },
    box({ flexDirection: 'column', alignItems: 'center' }, '功德', '圓滿'),
  )

const icon = (emoji: string, level: number): Element =>
  box(
    {
      position: 'absolute',
      left: 66,
      top: 96,
      width: 120,
      height: 120,
      borderRadius: 60,
      alignItems: 'center',
      justifyContent: 'center',
      backgroundColor: paletteOf(level).deep,
      border: `4px solid ${GOLD}`,
      fontSize: 68,
      lineHeight: 1,
    },
    emoji,
  )

/** @param track where they walked; empty for a pilgrim without points */
export function achievementCard(facts: CardFacts, track: readonly Fix[]): Element {
  const { level, zh, en, icon: emoji } = facts.level
  const colours = paletteOf(level)
  return box(
    { width: CARD_SIZE.width, height: CARD_SIZE.height, position: 'relative', color: '#fff' },
    drawing(feast(colours), CARD_SIZE.width, CARD_SIZE.height, { position: 'absolute', left: 0, top: 0 }),
    drawing(medallion(outlineIn(track), colours), 420, 420, { position: 'absolute', left: 60, top: 106 }),
    icon(emoji, level),
    seal(),
    box(
      {
        position: 'absolute',
        left: 524,
        top: 46,
        width: COLUMN_PX,
        height: 528,
        flexDirection: 'column',
        justifyContent: 'space-between',
      },
      box(
        { flexDirection: 'column', width: 440 },
        eventLine(facts, 440, { fontSize: 23 }),
        nameLine(facts, 440, 42),
      ),
      box(
        { flexDirection: 'column', alignItems: 'flex-start' },
        ribbon(level),
        box(
          {
            fontSize: 132,
            fontWeight: 700,
            lineHeight: 1.16,
            letterSpacing: 6,
            backgroundImage: `linear-gradient(180deg, #ffffff 20%, ${GOLD_LIGHT} 50%, ${GOLD} 85%)`,
            backgroundClip: 'text',
            color: 'transparent',
          },
          zh,
        ),
        box({ fontSize: 30, color: GOLD_LIGHT, letterSpacing: 2.5 }, en),
      ),
      figures(facts, { width: COLUMN_PX }),
      progress(facts, COLUMN_PX),
    ),
  )
}
