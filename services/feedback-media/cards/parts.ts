/** Parts that both designs share. */
import { box, type Content, type Element, type Style, words } from '#shared/cards/element.ts'
import { type CardFacts, pilgrimWord } from './card-facts.ts'
import { GOLD, GOLD_DEEP, GOLD_LIGHT, IVORY } from './palette.ts'

const ONE_LINE: Style = { whiteSpace: 'nowrap', overflow: 'hidden', textOverflow: 'ellipsis' }

/** Width of a text in its own font size, roughly: enough to choose a size that fits. */
const widthEm = (text: string): number =>
  Array.from(text).reduce(
    (sum, char) => sum + (/[\u1100-\u11ff\u2e80-\uffdc\u{1f000}-\u{3ffff}]/u.test(char) ? 1 : 0.56),
    0,
  )

/** The largest of two sizes at which a text fits, or what lies between; what is longer still is cut. */
export const fitting = (text: string, widthPx: number, largest: number, smallest: number): number =>
  Math.round(Math.max(smallest, Math.min(largest, widthPx / Math.max(1, widthEm(text)))))

/** The pilgrim's name on one line. */
export function nameLine(facts: CardFacts, widthPx: number, largest: number, style: Style = {}): Element {
  const instead = pilgrimWord(facts.language)
  const name = facts.displayName ?? instead
  const fontSize = fitting(name, widthPx, largest, Math.round(largest * 0.62))
  return words(
    { ...ONE_LINE, maxWidth: widthPx, fontSize, fontWeight: 700, color: IVORY, lineHeight: 1.3, ...style },
    name,
    instead,
  )
}

/** The event's name on one line. */
export const eventLine = ({ eventName }: CardFacts, widthPx: number, style: Style = {}): Element =>
  words(
    {
      ...ONE_LINE,
      maxWidth: widthPx,
      fontSize: 25,
      color: GOLD,
      letterSpacing: 1.5,
      lineHeight: 1.3,
      ...style,
    },
    eventName,
    '進香',
  )

const NUMERALS = ['一', '二', '三', '四', '五', '六', '七', '八', '九']
/** 第六境 */
export const realm = (level: number): string => `第${NUMERALS[level - 1]}境`

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 })
const amount = (value: number): string =>
  value >= 1_000
    ? new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 }).format(value)
    : grouped.format(value)

/** Kilograms with as many decimals as a reader wants. */
const kilograms = (kg: number): string => amount(Math.abs(kg) >= 10 ? Math.round(kg * 10) / 10 : kg)

const figure = (value: string, unit: string, zh: string, en: string): Element =>
  box(
    { flexDirection: 'column' },
    box(
      { alignItems: 'baseline' },
      box({ fontSize: 50, fontWeight: 700, color: '#fff', lineHeight: 1.1 }, value),
      box({ fontSize: 21, color: GOLD_LIGHT, marginLeft: 8 }, unit),
    ),
    box(
      { alignItems: 'baseline', marginTop: 4, color: GOLD },
      box({ fontSize: 21 }, zh),
      box({ fontSize: 15, letterSpacing: 1.2, marginLeft: 9 }, en),
    ),
  )

/** Kilometres, check-ins, carbon saved. */
export function figures({ km, checkins, carbonSavedKg }: CardFacts, style: Style = {}): Element {
  const rule = (): Element => box({ width: 1, height: 62, backgroundColor: GOLD, opacity: 0.4 })
  return box(
    { alignItems: 'center', justifyContent: 'space-between', ...style },
    figure(amount(km), 'km', '里程', 'DISTANCE'),
    rule(),
    figure(amount(checkins), '次', '打卡', 'CHECK-INS'),
    rule(),
    figure(kilograms(carbonSavedKg), 'kg', '減碳', 'CO₂ SAVED'),
  )
}

const needed = ({ kmNeeded, checkinsNeeded }: CardFacts): string =>
  [kmNeeded > 0 ? `${amount(kmNeeded)} km` : '', checkinsNeeded > 0 ? `${checkinsNeeded} 次打卡` : '']
    .filter(Boolean)
    .join(' · ')

function wayAhead(facts: CardFacts): Content[] {
  if (facts.next === null)
    return [
      box({ color: GOLD_LIGHT }, '已臻化境'),
      box({ color: GOLD, fontSize: 17 }, 'The summit is reached'),
    ]
  return [
    box(
      { alignItems: 'baseline' },
      box({ color: GOLD_LIGHT }, `下一境 ${facts.next.zh}`),
      box({ color: GOLD, fontSize: 16, marginLeft: 10 }, facts.next.en),
    ),
    box({ color: GOLD_LIGHT, fontSize: 19 }, `尚需 ${needed(facts)}`),
  ]
}

/** How far it is to the next level. */
export const progress = (facts: CardFacts, widthPx: number): Element =>
  box(
    { flexDirection: 'column', width: widthPx },
    box(
      { justifyContent: 'space-between', alignItems: 'baseline', fontSize: 21, width: widthPx },
      ...wayAhead(facts),
    ),
    box(
      {
        width: widthPx,
        height: 16,
        marginTop: 9,
        padding: 3,
        borderRadius: 8,
        backgroundColor: 'rgba(0,0,0,.38)',
        border: `1px solid ${GOLD_DEEP}`,
      },
      box({
        // A full circle at least, so that a beginning is seen.
        width: Math.max(8, Math.round((widthPx - 8) * facts.progress)),
        height: 8,
        borderRadius: 4,
        backgroundImage: `linear-gradient(90deg, ${GOLD_DEEP}, ${GOLD}, ${GOLD_LIGHT})`,
      }),
    ),
  )
