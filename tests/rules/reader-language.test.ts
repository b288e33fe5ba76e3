/** The language that a reader gets, for any phone language. */
import { describe, expect, test } from 'bun:test'
import { BuiltInLanguage, type Language } from '#shared/contracts/bot.ts'
import { acceptedTags, languageFor as languageOf, textFor } from '#shared/core/rules/languages.ts'

const languageFor = (
  tags: readonly (string | null)[],
  own: Language,
  offered: readonly Language[] = BuiltInLanguage.options,
): Language => languageOf(tags, own, offered)

describe('a reader of an event in traditional Chinese', () => {
  test.each([
    ['zh', 'zh-Hant'],
    ['zh-TW', 'zh-Hant'],
    ['zh-HK', 'zh-Hant'],
    ['zh-Hant-HK', 'zh-Hant'],
    ['zh-Hant-CN', 'zh-Hant'],
    ['yue', 'zh-Hant'],
    ['nan-TW', 'zh-Hant'],
    ['zh-Hans', 'zh-Hans'],
    ['zh_CN', 'zh-Hans'],
    ['zh-SG', 'zh-Hans'],
    ['EN-gb', 'en'],
    ['ja', 'ja'],
    ['es-ES', 'en'],
    ['de', 'en'],
    ['ko-KR', 'en'],
    ['vi', 'en'],
    ['id', 'en'],
  ] as const)('with a phone in %p gets %p', (tag, language) =>
    expect(languageFor([tag], 'zh-Hant')).toBe(language),
  )

  test('gets the first of their languages that is offered, else English', () => {
    expect(languageFor(['es-ES', 'ja', 'zh-TW'], 'zh-Hant')).toBe('ja')
    expect(languageFor(['es-ES', 'ca', 'fr'], 'zh-Hant')).toBe('en')
  })
})

test('a reader of unknown language gets the event’s own', () => {
  for (const unknown of [[], [null], [''], ['*'], ['und']]) {
    expect(languageFor(unknown, 'zh-Hant')).toBe('zh-Hant')
    expect(languageFor(unknown, 'ja')).toBe('ja')
  }
})

test('Chinese without script or region is the event’s Chinese', () => {
  expect(languageFor(['zh'], 'zh-Hans')).toBe('zh-Hans')
  expect(languageFor(['zh'], 'en')).toBe('zh-Hant')
  expect(languageFor(['zh-TW'], 'zh-Hans')).toBe('zh-Hant')
})

test('an Accept-Language header is read by quality; what it refuses is no language of the reader', () => {
  expect(acceptedTags(null)).toEqual([])
  expect(acceptedTags('es-ES,es;q=0.9,en;q=0.8')).toEqual(['es-ES', 'es', 'en'])
  expect(acceptedTags('en;q=0.5, ja, zh-TW;q=0')).toEqual(['ja', 'en'])
  expect(languageFor(acceptedTags('*'), 'zh-Hant')).toBe('zh-Hant')
  expect(languageFor(acceptedTags('ja;q=0'), 'zh-Hant')).toBe('zh-Hant')
})

test('a language that the event does not offer is English, and Chinese the form that it offers', () => {
  const offered = ['zh-Hant', 'ja'] as const
  expect(languageFor(['zh-CN'], 'zh-Hant', offered)).toBe('zh-Hant')
  expect(languageFor(['ko', 'ja'], 'zh-Hant', offered)).toBe('ja')
  expect(languageFor(['nl-BE', 'ja'], 'zh-Hant', [...offered, 'nl'])).toBe('nl')
  expect(languageFor(['pt', 'ja'], 'zh-Hant', [...offered, 'pt-BR'])).toBe('pt-BR')
  expect(languageFor(['nl', 'ja'], 'zh-Hant', offered)).toBe('ja')
  expect(languageFor(['en'], 'zh-Hant', offered)).toBe('en')
  expect(languageFor(['ja', 'zh-TW'], 'zh-Hans', ['zh-Hans'])).toBe('zh-Hans')
  expect(languageFor(['zh-TW', 'ja'], 'en', ['en'])).toBe('en')
  expect(languageFor([null], 'ja', ['ja'])).toBe('ja')
})

test.each([
  [
    { 'zh-Hant': '停', en: 'Stop' },
    { 'zh-Hant': '停', 'zh-Hans': '停', en: 'Stop', ja: 'Stop' },
  ],
  [
    { 'zh-Hans': '停下', ja: '止' },
    { 'zh-Hant': '停下', 'zh-Hans': '停下', en: undefined, ja: '止' },
  ],
  [{}, { 'zh-Hant': undefined, 'zh-Hans': undefined, en: undefined, ja: undefined }],
] as const)('of the texts %p each reader gets one that they understand', (texts, expected) =>
  expect(
    Object.fromEntries(BuiltInLanguage.options.map((reader) => [reader, textFor(texts, reader)])),
  ).toEqual(expected),
)
