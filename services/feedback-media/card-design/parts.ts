/** Parts of both designs. */
import { carbonIn } from '#shared/locales/carbon.ts'
import {
  box,
  type Content,
  drawing,
  type Element,
  type Style,
  words,
} from '#shared/picture-renderer/element.ts'
import { type CardFacts, pilgrimWord } from './card-facts.ts'
import { emblem } from '#shared/rules/emblems.ts'
import { GOLD, GOLD_DEEP, GOLD_LIGHT, IVORY, paletteOf } from './palette.ts'

const ONE_LINE: Style = { whiteSpace: 'nowrap', overflow: 'hidden', textOverflow: 'ellipsis' }

/** Estimates the width of a text in em, to choose a font size that fits. */
const widthEm = (text: string): number =>
  Array.from(text).reduce(
    (sum, char) => sum + (/[\u1100-\u11ff\u2e80-\uffdc\u{1f000}-\u{3ffff}]/u.test(char) ? 1 : 0.64),
    0,
  )

/** The largest font size between two bounds at which a text fits. A longer text is truncated. */
export const fitting = (text: string, widthPx: number, largest: number, smallest: number): number =>
  Math.round(Math.max(smallest, Math.min(largest, widthPx / Math.max(1, widthEm(text)))))

/** The pilgrim's name on one line: the largest text of a card. */
export function nameLine(facts: CardFacts, widthPx: number, largest: number): Element {
  const instead = pilgrimWord(facts.language)
  const name = facts.displayName ?? instead
  const fontSize = fitting(name, widthPx, largest, Math.round(largest * 0.45))
  return words(
    { ...ONE_LINE, maxWidth: widthPx, fontSize, fontWeight: 700, color: IVORY, lineHeight: 1.25 },
    name,
    instead,
  )
}

/** The event's name on one line. */
export const eventLine = ({ eventName }: CardFacts, widthPx: number): Element =>
  words(
    { ...ONE_LINE, maxWidth: widthPx, fontSize: 28, color: GOLD, letterSpacing: 1.5, lineHeight: 1.3 },
    eventName,
    '進香',
  )

/** The level in both languages, with its number. */
export const levelLines = ({ level }: CardFacts): Element =>
  box(
    { flexDirection: 'column' },
    box({ fontSize: 76, fontWeight: 700, color: GOLD_LIGHT, lineHeight: 1.15, letterSpacing: 3 }, level.zh),
    box({ fontSize: 31, color: GOLD, letterSpacing: 1.5 }, `LV ${level.level} · ${level.en}`),
  )

/** The level's emblem in its round field. */
export const emblemField = (level: number, place: { left: number; top: number; size: number }): Element => {
  const { deep } = paletteOf(level)
  return box(
    {
      position: 'absolute',
      left: place.left,
      top: place.top,
      width: place.size,
      height: place.size,
      borderRadius: place.size / 2,
      alignItems: 'center',
      justifyContent: 'center',
      backgroundColor: deep,
      border: `5px solid ${GOLD}`,
    },
    drawing(emblem(level, GOLD, deep), place.size * 0.72, place.size * 0.72),
  )
}

const grouped = (decimals: number) =>
  new Intl.NumberFormat('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
const [whole, tenths] = [grouped(0), grouped(1)]
/** One decimal below a thousand, none above, and none of a whole number. Rounded down, so that no card shows a distance before it is walked. */
const amount = (value: number): string =>
  Math.abs(value) >= 1_000 || Number.isInteger(value)
    ? whole.format(Math.trunc(value))
    : tenths.format(Math.trunc(value * 10 + 1e-6) / 10)

const figure = (value: string, zh: string, en: string): Element =>
  box(
    { flexDirection: 'column' },
    box({ fontSize: 62, fontWeight: 700, color: '#fff', lineHeight: 1.1 }, value),
    box(
      { alignItems: 'baseline', color: GOLD_LIGHT },
      box({ fontSize: 31 }, zh),
      box({ fontSize: 26, marginLeft: 9 }, en),
    ),
  )

/** Kilometres, check-ins, carbon saved as the pages write it. */
export function figures(
  { km, checkins, carbonSavedKg }: Pick<CardFacts, 'km' | 'checkins' | 'carbonSavedKg'>,
  style: Style = {},
): Element {
  const rule = (): Element => box({ width: 2, height: 84, backgroundColor: GOLD_DEEP })
  const carbon = carbonIn('en', carbonSavedKg)
  return box(
    { alignItems: 'center', justifyContent: 'space-between', ...style },
    figure(amount(km), '公里', 'km'),
    rule(),
    figure(whole.format(checkins), '打卡', 'check-ins'),
    rule(),
    figure(carbon.figure, '減碳', `${carbon.unit} CO₂`),
  )
}

/** What is missing to the next level, computed from the distance that the card shows. */
function needed({ km, kmNeeded, checkinsNeeded, next }: CardFacts): string {
  const toGo = next === null || kmNeeded <= 0 ? 0 : next.minKm - Math.trunc(km * 10 + 1e-6) / 10
  return [toGo > 0 ? `${amount(toGo)} km` : '', checkinsNeeded > 0 ? `${checkinsNeeded} 打卡 check-ins` : '']
    .filter(Boolean)
    .join(' + ')
}

function nextLevelLines(facts: CardFacts): Content[] {
  if (facts.next === null)
    return [
      box({ color: GOLD_LIGHT, fontSize: 27 }, '已臻化境'),
      box({ color: GOLD_LIGHT, fontSize: 24 }, 'The highest level'),
    ]
  return [
    box({ color: GOLD_LIGHT, fontSize: 27 }, `下一境 ${facts.next.zh}`),
    box({ color: GOLD_LIGHT, fontSize: 24 }, needed(facts)),
  ]
}

/** The progress to the next level. */
export const progress = (facts: CardFacts, widthPx: number): Element =>
  box(
    { flexDirection: 'column', width: widthPx },
    box(
      { justifyContent: 'space-between', alignItems: 'baseline', width: widthPx },
      ...nextLevelLines(facts),
    ),
    box(
      {
        width: widthPx,
        height: 18,
        marginTop: 8,
        padding: 3,
        borderRadius: 9,
        backgroundColor: 'rgba(0,0,0,.42)',
        border: `1px solid ${GOLD_DEEP}`,
      },
      // At least a full circle, so that small progress is visible.
      box({
        width: Math.max(10, Math.round((widthPx - 8) * facts.progress)),
        height: 10,
        borderRadius: 5,
        backgroundColor: GOLD,
      }),
    ),
  )
