/** Replaces characters that cannot be rendered, so that no text has empty boxes or wrongly ordered scripts. */
import { RIGHT_TO_LEFT } from '#shared/core/rules/card-name.ts'
import type { Content, Element } from './element.ts'
import { fontsFor, type Font, hasGlyphs, type Weight } from './fonts.ts'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Control characters, variation selectors and joiners, which have no glyphs. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\u{FE00}-\u{FE0F}\u{E0100}-\u{E01EF}]/gu
/** Replaces a character without a glyph. */
const REPLACEMENT = '·'

const graphemes = new Intl.Segmenter('zh-Hant', { granularity: 'grapheme' })
const canBeSet = (text: string): boolean =>
  [...graphemes.segment(text)].every(({ segment }) => hasGlyphs(segment))

/**
 * Returns the grapheme, its compatibility form (A for 𝓐), or its letter without marks.
 * @returns null if none of these can be rendered; an emoji without a drawing is empty
 */
function settableGrapheme(grapheme: string): string | null {
  const emoji = drawnEmoji(grapheme)
  if (emoji !== '') return emoji
  for (const form of ['NFC', 'NFKC'] as const) {
    const text = grapheme.normalize(form).replaceAll(INVISIBLE, '')
    if (canBeSet(text)) return text
  }
  if (PICTOGRAPH.test(grapheme)) return ''
  for (const form of ['NFC', 'NFD'] as const) {
    const [letter = ''] = grapheme.normalize(form)
    if (hasGlyphs(letter)) return letter
  }
  return null
}

/**
 * Returns a text that can be rendered. A run of characters without glyphs becomes one dot, and emoji without a drawing
 * are left out.
 * @param instead replaces a text that is right-to-left, empty, or more than half without glyphs
 */
export function settable(text: string, instead: string): string {
  if (RIGHT_TO_LEFT.test(text)) return instead
  let kept = 0
  let lost = 0
  let set = ''
  for (const { segment } of graphemes.segment(text.normalize('NFC').replaceAll(/\s+/g, ' ').trim())) {
    const glyphs = settableGrapheme(segment)
    if (glyphs === null) {
      lost++
      if (!set.endsWith(REPLACEMENT)) set += REPLACEMENT
    } else {
      if (glyphs.trim() !== '') kept++
      set += glyphs
    }
  }
  return kept === 0 || lost > kept ? instead : set.replaceAll(/ +/g, ' ').trim()
}

/** A tree that can be rendered, and the fonts and images of its texts. */
interface Typeset {
  readonly element: Element
  readonly fonts: readonly Font[]
  readonly graphemeImages: Record<string, string>
}

const weightOf = (element: Element, inherited: Weight): Weight => {
  const weight = element.props.style?.fontWeight
  return weight === undefined ? inherited : Number(weight) >= 600 ? 700 : 400
}

/** Prepares a tree for the layout engine. */
export function typeset(root: Element): Typeset {
  const texts: { text: string; weight: Weight }[] = []
  const graphemeImages = new Map<string, string>()
  const setText = (given: string, instead: string, weight: Weight): string => {
    const text = settable(given, instead)
    texts.push({ text, weight })
    for (const { segment } of graphemes.segment(text)) {
      const drawing = emojiDrawing(segment)
      if (drawing !== null) graphemeImages.set(segment, drawing)
    }
    return text
  }
  const visit = (element: Element, inherited: Weight): Element => {
    const { children, instead, ...props } = element.props
    if (children === undefined) return element
    const weight = weightOf(element, inherited)
    const renderable = (child: Content): Content =>
      typeof child === 'string' ? setText(child, instead ?? '', weight) : visit(child, weight)
    return {
      type: element.type,
      props: {
        ...props,
        children:
          typeof children === 'string' || !Array.isArray(children)
            ? renderable(children as Content)
            : children.map(renderable),
      },
    }
  }
  const element = visit(root, 400)
  // The ellipsis of truncated texts, and the space between words.
  texts.push({ text: '… ', weight: 400 }, { text: '… ', weight: 700 })
  return { element, fonts: fontsFor(texts), graphemeImages: Object.fromEntries(graphemeImages) }
}

/** Graphemes with emoji presentation, by default or by a variation selector. */
const EMOJI = /\p{Emoji_Presentation}|\p{Emoji}\uFE0F|[0-9#*]\uFE0F?\u20E3|\p{Regional_Indicator}{2}/u

/** Characters of emoji, including those missing from the tables of this runtime. */
const PICTOGRAPH = /\p{Extended_Pictographic}|\p{Regional_Indicator}|\p{Emoji_Modifier}|\u20E3/u

const SKIN_TONE = /\p{Emoji_Modifier}/gu
/** The layout engine does not know that these accept a skin tone, and would draw it separately. */
const TONE_APART = /(?<=[\u26F7\u{1FAF7}\u{1FAF8}]\uFE0F?)\p{Emoji_Modifier}/gu
const JOINER = '\u200D'

/** The emoji drawn for a grapheme: itself, itself without a skin tone, or the parts that it joins. */
function drawnEmoji(grapheme: string): string {
  if (!EMOJI.test(grapheme)) return ''
  const whole = grapheme.replaceAll(TONE_APART, '')
  const forms = [whole, whole.replaceAll(SKIN_TONE, '')]
  const drawn = forms.find((form) => emojiDrawing(form) !== null)
  if (drawn !== undefined || !whole.includes(JOINER)) return drawn ?? ''
  return whole.split(JOINER).map(drawnEmoji).join('')
}

const drawings = new Map<string, string | null>()
let directory = ''

function find(grapheme: string): string | null {
  directory ||= dirname(Bun.resolveSync('@twemoji/svg/package.json', import.meta.dir))
  const whole = Array.from(grapheme, (char) => char.codePointAt(0)!.toString(16))
  const bare = whole.filter((hex) => hex !== 'fe0f')
  // File names of joined emoji contain the variation selectors; other file names do not.
  for (const parts of [whole, bare]) {
    const path = join(directory, `${parts.join('-')}.svg`)
    if (existsSync(path)) return `data:image/svg+xml;base64,${readFileSync(path).toString('base64')}`
  }
  return null
}

/** The image of a grapheme as a data URL; null if it is not an emoji, or is newer than the package. */
export function emojiDrawing(grapheme: string): string | null {
  return EMOJI.test(grapheme) ? drawings.getOrInsertComputed(grapheme, find) : null
}
