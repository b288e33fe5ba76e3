/** Parts of both designs. */
import { box, drawing, type Element, type Style, words } from '#shared/runtime/picture-renderer/element.ts'
import { levelName } from '#shared/locales/by-language.ts'
import { carbonIn, figure as written, UNITS } from '#shared/locales/units.ts'
import { type CardFacts, cardLanguage, cardWords, pilgrimWord } from './card-facts.ts'
import { emblem } from '#shared/core/rules/emblems.ts'
import { GOLD, GOLD_DEEP, GOLD_LIGHT, IVORY, paletteOf } from './palette.ts'

const ONE_LINE: Style = { whiteSpace: 'nowrap', overflow: 'hidden', textOverflow: 'ellipsis' }

/** Estimates the width of a text in em, to choose a font size that fits. */
const widthEm = (text: string): number =>
  Array.from(text).reduce(
    (sum, char) =>
      sum +
      (/[\u1100-\u11ff\u2e80-\uffdc\u{1f000}-\u{3ffff}]/u.test(char)
        ? 1
        : /[\p{Lu}mw]/u.test(char)
          ? 0.95
          : 0.64),
    0,
  )

/** The largest font size between two bounds at which a text fits. A longer text is truncated. */
const fitting = (text: string, widthPx: number, largest: number, smallest: number): number =>
  Math.round(Math.max(smallest, Math.min(largest, widthPx / Math.max(1, widthEm(text)))))

/** A name that would be smaller than this share of the largest size stands on two lines. */
const TWO_LINES_BELOW = 0.62
const SMALLEST = 0.45

/** The pilgrim's name: the largest text of a card. A long one has two lines. */
export function nameLine(facts: CardFacts, widthPx: number, largest: number): Element {
  const instead = pilgrimWord(facts.language)
  const name = facts.displayName ?? instead
  const oneLine = fitting(name, widthPx, largest, 1)
  const isLong = oneLine < largest * TWO_LINES_BELOW
  const fontSize = isLong
    ? fitting(name, 1.8 * widthPx, largest * TWO_LINES_BELOW, largest * SMALLEST)
    : oneLine
  const lines: Style = isLong
    ? { display: 'block', lineClamp: 2, wordBreak: 'break-word', lineHeight: 1.1 }
    : { ...ONE_LINE, lineHeight: 1.25 }
  return words({ ...lines, maxWidth: widthPx, fontSize, fontWeight: 700, color: IVORY }, name, instead)
}

/** No text is smaller: on a phone a card is 360 px wide, and this 11. */
const SMALL_PX = 38

/** The event's name. A long one has two lines. */
export const eventLine = ({ eventName }: CardFacts, maxWidth: number): Element =>
  words(
    { display: 'block', lineClamp: 2, maxWidth, fontSize: SMALL_PX, color: GOLD, lineHeight: 1.2 },
    eventName,
    '進香',
  )

const LEVEL_PX = 560

/** The level's name; its number, with the days of the event. */
export function levelLines({ level, language, eventDays }: CardFacts, largest: number): Element {
  const name = levelName(level.level, cardLanguage(language))
  const fontSize = fitting(name, LEVEL_PX, largest, SMALL_PX)
  return box(
    { flexDirection: 'column' },
    box(
      { ...ONE_LINE, fontSize, fontWeight: 700, color: GOLD_LIGHT, lineHeight: 1.3, letterSpacing: 2 },
      name,
    ),
    box(
      { fontSize: SMALL_PX, color: GOLD },
      [cardWords(language).level(level.level), eventDays ?? []].flat().join(' · '),
    ),
  )
}

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

const figure = (value: string, unit: string, size: number): Element =>
  box(
    { flexDirection: 'column' },
    box({ fontSize: size, fontWeight: 700, color: '#fff', lineHeight: 1.1 }, value),
    box({ fontSize: SMALL_PX, color: GOLD_LIGHT }, unit),
  )

/** Kilometres, check-ins, carbon saved as the pages write it. The walk is the message: its figure is the largest. */
export function figures(
  {
    km,
    checkins,
    carbonSavedKg,
    language,
  }: Pick<CardFacts, 'km' | 'checkins' | 'carbonSavedKg' | 'language'>,
  style: Style = {},
): Element {
  const rule = (): Element => box({ width: 2, height: 84, backgroundColor: GOLD_DEEP })
  const carbon = carbonIn(cardLanguage(language), carbonSavedKg)
  const saved = `${carbon.figure} ${carbon.unit}`
  const said = cardWords(language)
  return box(
    { alignItems: 'flex-end', justifyContent: 'space-between', ...style },
    figure(written(km), UNITS[cardLanguage(language)].km, fitting(written(km), 250, 92, 58)),
    rule(),
    figure(written(checkins), said.checkins, 58),
    rule(),
    figure(saved, said.saved, fitting(saved, 210, 58, 40)),
  )
}
