/** The two designs of a pilgrim's card, and their parts. */
import { box, drawing, type Element, type Style, words } from '#shared/runtime/picture-renderer/element.ts'
import { CARD_SIZE } from '#shared/contracts/cards.ts'
import { carbonIn, figure as written, publicKmText, unitsOf } from '#shared/locales/units.ts'
import { emblem } from '#shared/core/rules/emblems.ts'
import { LEVELS } from '#shared/core/rules/levels.ts'
import { eveningHills, feast, GOLD, GOLD_DEEP, GOLD_LIGHT, IVORY, paletteOf, SEAL } from './card-backdrops.ts'
import { type CardFacts, type CardRoute, cardWords } from './card-facts.ts'
import { routeMap } from './card-route-map.ts'

/** @param route null: the event has none */
export const cardOf = (facts: CardFacts, route: CardRoute | null): Element =>
  facts.unlocked ? achievementCard(facts, route) : shareCard(facts, route)

const SHARE_COLUMN_PX = 640

/** Pilgrim and level over evening hills, the event's route on a round map. */
export function shareCard(facts: CardFacts, route: CardRoute | null): Element {
  const { level } = facts.level
  const colours = paletteOf(level)
  return canvas(
    eveningHills(colours),
    routeMap(route, colours, { left: 728, top: 62, size: 424 }),
    emblemField(level, { left: 1020, top: 392, size: 138 }),
    column(
      { left: 60, top: 44, width: SHARE_COLUMN_PX, height: 544 },
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

const ACHIEVEMENT_COLUMN_PX = 600

const ribbon = (facts: CardFacts): Element =>
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
    cardWords(facts).achieved,
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

function achievementCard(facts: CardFacts, route: CardRoute | null): Element {
  const { level } = facts.level
  const colours = paletteOf(level)
  return canvas(
    feast(colours),
    routeMap(route, colours, { left: 58, top: 106, size: 424 }),
    emblemField(level, { left: 52, top: 72, size: 138 }),
    seal(level),
    column(
      { left: 536, top: 46, width: ACHIEVEMENT_COLUMN_PX, height: 540 },
      box({ flexDirection: 'column' }, eventLine(facts, 440), nameLine(facts, 450, 84)),
      box({ flexDirection: 'column', alignItems: 'flex-start' }, ribbon(facts), levelLines(facts, 64)),
      figures(facts, { width: ACHIEVEMENT_COLUMN_PX }),
    ),
  )
}

/** The whole card: elements over a backdrop. */
const canvas = (backdrop: string, ...elements: readonly Element[]): Element =>
  box(
    { width: CARD_SIZE.width, height: CARD_SIZE.height, position: 'relative', color: '#fff' },
    drawing(backdrop, CARD_SIZE.width, CARD_SIZE.height, { position: 'absolute', left: 0, top: 0 }),
    ...elements,
  )

/** Stacked texts in a box. */
const column = (place: Style, ...elements: readonly Element[]): Element =>
  box(
    { position: 'absolute', ...place, flexDirection: 'column', justifyContent: 'space-between' },
    ...elements,
  )

// Parts of both designs.

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

/** A name that would be smaller than this share of the largest size is set in two lines. */
const TWO_LINES_BELOW = 0.62
const SMALLEST = 0.45

/** The pilgrim's name, the largest text of a card. */
function nameLine(facts: CardFacts, widthPx: number, largest: number): Element {
  const instead = facts.pilgrimWord
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

/** Minimum size: on a phone a card is 360 px wide, and this is 11. */
const SMALL_PX = 38

const eventLine = ({ eventName }: CardFacts, maxWidth: number): Element =>
  words(
    { display: 'block', lineClamp: 2, maxWidth, fontSize: SMALL_PX, color: GOLD, lineHeight: 1.2 },
    eventName,
    '進香',
  )

const LEVEL_PX = 560

/** The level's name and its number, with the days of the event. */
function levelLines(facts: CardFacts, largest: number): Element {
  const { level, levelName, eventDays } = facts
  const fontSize = fitting(levelName, LEVEL_PX, largest, SMALL_PX)
  return box(
    { flexDirection: 'column' },
    box(
      { ...ONE_LINE, fontSize, fontWeight: 700, color: GOLD_LIGHT, lineHeight: 1.3, letterSpacing: 2 },
      levelName,
    ),
    box(
      { fontSize: SMALL_PX, color: GOLD },
      [cardWords(facts).level(level.level), eventDays ?? []].flat().join(' · '),
    ),
  )
}

const emblemField = (level: number, place: { left: number; top: number; size: number }): Element => {
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

/**
 * Kilometres, check-ins and carbon saved, formatted as on the pages. The walk is the message: its figure is the
 * largest.
 */
export function figures(
  {
    checkins,
    carbonSavedKg,
    language,
    words: own,
    ...walked
  }: Pick<CardFacts, 'km' | 'isAtLeast' | 'checkins' | 'carbonSavedKg' | 'language' | 'words'>,
  style: Style = {},
): Element {
  const rule = (): Element => box({ width: 2, height: 84, backgroundColor: GOLD_DEEP })
  const km = publicKmText(walked)
  const carbon = carbonIn(language, carbonSavedKg)
  const saved = `${carbon.figure} ${carbon.unit}`
  const labels = cardWords({ language, ...(own && { words: own }) })
  return box(
    { alignItems: 'flex-end', justifyContent: 'space-between', ...style },
    figure(km, unitsOf(language).km, fitting(km, 250, 92, 58)),
    rule(),
    figure(written(checkins), labels.checkins, 58),
    rule(),
    figure(saved, labels.saved, fitting(saved, 210, 58, 40)),
  )
}
