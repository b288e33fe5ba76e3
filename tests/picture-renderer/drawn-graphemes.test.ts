/**
 * Pictures of names contain no empty box. Pictures are compared, because a font may lack glyphs that a list
 * names.
 */
import { expect, test } from 'bun:test'
import { Resvg } from '@resvg/resvg-js'
import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import satori from 'satori'
import { words } from '#shared/runtime/picture-renderer/element.ts'
import { emojiDrawing, settable, typeset } from '#shared/runtime/picture-renderer/typesetting.ts'

const PILGRIM = '香客'
/** No font has a glyph for it, so it is drawn as an empty box. */
const BOX = '\u{10FFFD}'

const graphemes = new Intl.Segmenter('zh-Hant', { granularity: 'grapheme' })

type Prepared = Pick<ReturnType<typeof typeset>, 'fonts' | 'graphemeImages'>

/** Draws a text as it is, with the fonts and drawings of a prepared one. @returns a hash of the picture */
async function picture(text: string, { fonts, graphemeImages }: Prepared): Promise<string> {
  const svg = await satori(
    { type: 'div', key: null, props: { style: { fontSize: 48 }, children: text } },
    { width: 240, height: 96, fonts: [...fonts], graphemeImages },
  )
  const { pixels } = new Resvg(svg, { font: { loadSystemFonts: false } }).render()
  return Bun.hash(pixels).toString(16)
}

/** Draws a drawing in place of an emoji's first character, whose font determines the line. */
function pictureOf(drawing: string, emoji: string, { fonts }: Prepared): Promise<string> {
  const [first = ''] = emoji
  return picture(first, { fonts, graphemeImages: { [first]: drawing } })
}

/** Characters of a name that are drawn as an empty box, or separated from their emoji. */
async function wronglyDrawn(name: string): Promise<string[]> {
  const text = settable(name, PILGRIM)
  const prepared = typeset(words({}, name, PILGRIM))
  const wrong: string[] = []
  for (const { segment } of graphemes.segment(text)) {
    const drawing = emojiDrawing(segment)
    const drawn = await picture(segment, prepared)
    if (drawing !== null) {
      if (drawn !== (await pictureOf(drawing, segment, prepared))) wrong.push(segment)
      continue
    }
    const characters = Array.from(segment)
    for (const [i, character] of characters.entries())
      if (drawn === (await picture(characters.with(i, BOX).join(''), prepared))) wrong.push(character)
  }
  return wrong
}

const cases: readonly (readonly [given: string, shown: string])[] = [
  // Marks of romanised Taiwanese that are in another font file than their letters.
  ['Bí-gio̍k', 'Bí-giok'],
  ['a̍ e̍ i̍ u̍ A̍', 'a e i u A'],
  ['n̂g', 'ng'],
  ['o͘ O͘', 'o O'],
  ['a̋', 'a'],
  ['ṳ̂', 'ṳ'],
  ['m̄ n̄', 'm̄ n̄'],
  // Marks of other languages.
  ['か゚き゚', 'かき'],
  ['q̃ x̱ ʼn̈', 'q̃ x ʼn̈'],
  ['Z̢̛̲a̷̡̺l̶g̵o̸', 'Zalgo'],
  ['Nguyễn Ὀδυσσεύς', 'Nguyễn Ὀδυσσεύς'],
  ['ผู้ยิ่งใหญ่', 'ผู้ยิ่งใหญ่'],
  // Emoji whose skin tone the layout engine would draw by itself.
  ['林🫷🏻🫸🏿', '林🫷🫸'],
  ['林⛷🏽', '林'],
  ['林🫱🏻 👍🏽 👩🏾‍🚀 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1️⃣ 🇹🇼 ❤️', '林🫱🏻 👍🏽 👩🏾‍🚀 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1️⃣ 🇹🇼 ❤️'],
  // Emoji newer than the drawings, and a nonexistent flag.
  ['阿明🫩🫪🪾', '阿明'],
  ['阿明 🫩 陳', '阿明 陳'],
  ['🫩阿', '阿'],
  ['🇽🇽阿明', '阿明'],
  ['🫩🪾', PILGRIM],
  // Newer joined emoji are drawn as their parts.
  ['阿明🐢‍🍄', '阿明🐢🍄'],
  ['阿明🐢‍🪾', '阿明🐢'],
]

test.each(cases)('%p is drawn as %p, without a box', async (given, shown) => {
  expect(settable(given, PILGRIM)).toBe(shown.normalize('NFC'))
  expect(await wronglyDrawn(given)).toEqual([])
})

test('a box is seen', async () => {
  const prepared = typeset(words({}, 'o', ''))
  expect(await picture('o\u030D', prepared)).toBe(await picture(`o${BOX}`, prepared))
  expect(await picture('o', prepared)).not.toBe(await picture(BOX, prepared))
})

/**
 * A letter with each mark of two blocks: those of Latin, Greek and Cyrillic, and those of older phonetic
 * writing.
 */
test('no letter with any mark has a box', async () => {
  const marks = [...blockOf(0x300, 0x36f), ...blockOf(0x1dc0, 0x1dff), '\u3099', '\u309A']
  const letters = ['o', 'ｋ', 'か', 'ng', '林', '김', 'я']
  const wrong: string[] = []
  for (const [i, mark] of marks.entries())
    for (const letter of [letters[0]!, letters[i % letters.length]!])
      wrong.push(
        ...(await wronglyDrawn(letter + mark)).map(
          (character) => `${letter} ${character.codePointAt(0)!.toString(16)}`,
        ),
      )
  expect(wrong).toEqual([])
})

const blockOf = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => String.fromCodePoint(from + i))

test('each emoji of several characters is drawn as one picture (long)', async () => {
  const directory = dirname(Bun.resolveSync('@twemoji/svg/package.json', import.meta.dir))
  const emoji = readdirSync(directory)
    .filter((name) => name.includes('-') && name.endsWith('.svg'))
    .map((name) =>
      String.fromCodePoint(
        ...name
          .slice(0, -4)
          .split('-')
          .map((hex) => Number.parseInt(hex, 16)),
      ),
    )
  const wrong: string[] = []
  for (const name of emoji) {
    const prepared = typeset(words({}, name, PILGRIM))
    const [drawing, ...others] = Object.values(prepared.graphemeImages)
    // A character that is an emoji only with a variation selector is set as text.
    if (drawing === undefined) continue
    const drawn = await picture(settable(name, ''), prepared)
    if (others.length > 0 || drawn !== (await pictureOf(drawing, name, prepared))) wrong.push(name)
  }
  expect(wrong).toEqual([])
}, 300_000)
