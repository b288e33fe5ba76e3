/** Untrusted texts: supported characters are set, and the others never become an empty box. */
import { describe, expect, test } from 'bun:test'
import { box, words } from '#shared/runtime/picture-renderer/element.ts'
import { emojiDrawing, settable, typeset } from '#shared/runtime/picture-renderer/typesetting.ts'
import { hasGlyph } from '#shared/runtime/picture-renderer/fonts.ts'
import { LEVELS } from '#shared/core/rules/levels.ts'

const set = (text: string): string => settable(text, '香客')

describe('names that are set as they are', () => {
  for (const name of [
    '林美玉',
    '欧阳谆骊',
    '渡邊さくら・ケンジ',
    '辻本 渋沢',
    '김하늘',
    'ณัฐวุฒิ ผู้ยิ่งใหญ่',
    'Nguyễn Thị Ánh',
    'Žofie Ångström-Łęcka',
    'Ħ ŋ ß æ œ ı İ ğ ș ț ẞ',
    'Γιώργος Дмитрий Їжак',
    '小明 👨‍👩‍👧‍👦🇹🇼❤️🐢 1️⃣ 👍🏽',
    '★ ☆ ♥ ✿ ♪',
    '，。「」、！？《》—…',
    'a < b & "c"',
  ])
    test(name, () => expect(set(name)).toBe(name.normalize('NFC')))
})

describe('names that are set otherwise', () => {
  const cases: [given: string, shown: string][] = [
    ['e\u0301tienne', 'étienne'],
    ['  two\n\tlines  ', 'two lines'],
    ['𝓐𝓵𝓲𝓬𝓮', 'Alice'],
    ['ＡＢＣ', 'ＡＢＣ'],
    ['林\u202E美\u200B玉\uFEFF', '林美玉'],
    ['林\u{12000}美玉', '林·美玉'],
    ['林\u{13000}\u{13001}美玉', '林·美玉'],
    ['\u{13000}\u{13001}玉', '香客'],
    ['محمد', '香客'],
    ['דוד Levi', '香客'],
    ['ܡܪܝ', '香客'],
    ['ހަސަން', '香客'],
    ['ሰላም', '香客'],
    ['मनीष', '香客'],
    ['', '香客'],
    ['   ', '香客'],
    ['\u200B\u2060', '香客'],
    ['\uE000', '香客'],
  ]
  for (const [given, shown] of cases) test(JSON.stringify(given), () => expect(set(given)).toBe(shown))
})

test('every character of the cards themselves has a glyph or a drawing', () => {
  const own =
    '第一二三四五六七八九境成就達功德圓滿步行里程打卡次減碳下尚需旅即將展開已臻化進香客WALKED CHECK-INS CO₂ SAVED LEVEL km kg 0123456789.,·…—巡礼者순례자ผู้จาริกแสวงบุญ'
  for (const { zh, en, icon } of LEVELS) {
    expect(emojiDrawing(icon)).toStartWith('data:image/svg+xml')
    for (const char of zh + en + own)
      expect({ char, has: hasGlyph(char.codePointAt(0)!) }).toEqual({ char, has: true })
  }
})

test('any text at all comes out as characters that have a glyph', () => {
  let seed = 42
  const random = (max: number): number => (seed = (seed * 48_271) % 2_147_483_647) % max
  for (let i = 0; i < 400; i++) {
    const text = Array.from({ length: 6 }, () => {
      const point = random(i % 2 === 0 ? 0x3_0000 : 0x1_0000)
      return point >= 0xd800 && point < 0xe000 ? '?' : String.fromCodePoint(point)
    }).join('')
    const graphemes = [...new Intl.Segmenter('zh-Hant', { granularity: 'grapheme' }).segment(set(text))]
    for (const { segment } of graphemes)
      if (emojiDrawing(segment) === null)
        for (const char of segment)
          expect({ text, char, has: hasGlyph(char.codePointAt(0)!) }).toMatchObject({ has: true })
  }
})

test('a tree brings the fonts and drawings that it needs, and no others', () => {
  const { element, fonts, graphemeImages } = typeset(
    box({}, words({ fontWeight: 700 }, 'Ånn 🐢', '香客'), words({}, 'محمد', '香客')),
  )
  expect(JSON.stringify(element)).not.toContain('instead')
  expect(JSON.stringify(element)).toContain('Ånn 🐢')
  expect(JSON.stringify(element)).toContain('香客')
  expect(Object.keys(graphemeImages)).toEqual(['🐢'])
  const names = fonts.map(({ name, weight }) => `${name} ${weight}`)
  expect(names).toContain('@fontsource/noto-serif/latin 700')
  expect(names.filter((name) => name.includes('wenkai')).every((name) => name.endsWith(' 400'))).toBe(true)
  expect(names.some((name) => name.includes('gowun') || name.includes('thai'))).toBe(false)
})
