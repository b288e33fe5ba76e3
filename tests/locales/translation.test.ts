/** A further language is a table whose rows are read from the English words, so none is missing, and none invented. */
import { describe, expect, test } from 'bun:test'
import { checkLanguage } from '#services/admin/event/set-translation.ts'
import { showWords } from '#services/admin/own-data/show-config.ts'
import { SetTranslationRequest } from '#shared/contracts/event-settings.ts'
import { BOT_WORDS, serviceWords } from '#shared/locales/by-language.ts'
import { words as map } from '#shared/locales/en/map.ts'
import { words as walk } from '#shared/locales/en/walk.ts'
import { builtInTexts, checkTexts, rowsOf, translationOf } from '#shared/locales/further/translation-table.ts'
import { pathOf, translatedWords, type Translation } from '#shared/locales/further/translated-words.ts'

const FILES = [
  'all-pages',
  'walk',
  'map',
  'places',
  'survey',
  'recorded-file',
  'share',
  'bot',
  'levels',
  'poster',
  'not-found',
]
const NUMBERS = [0, 1, 2, 5.5, 21, 1_234]

/** Values of each parameter of a sentence, by its rows: a number, a text, a flag, or what may be missing. */
function valuesOf(path: string, { parameters, texts }: Translation): readonly (readonly unknown[])[] {
  const has = (condition: string) =>
    Object.keys(texts).some((key) => key.startsWith(`${path}[`) && key.includes(condition))
  return (parameters[path] ?? []).map((name) => {
    if (name.startsWith('#')) return NUMBERS
    if (has(`${name}=true`)) return [true, false]
    if (has(`${name}=0`) || has(`${name}=1`)) return [0, 1, 12]
    return has(`${name}=null`) ? ['Lin', 7, null] : ['Lin']
  })
}

type Said = readonly [where: string, said: string]

/** Every sentence of these words, with all values of its parameters. */
function saidBy(path: string, words: unknown, translation: Translation): Said[] {
  const at = pathOf(path)
  if (typeof words === 'string') return [[at, words]]
  if (typeof words !== 'function')
    return Object.entries(words as object).flatMap(([name, part]) =>
      saidBy(`${at}.${name}`, part, translation),
    )
  const given = valuesOf(at, translation).reduce<unknown[][]>(
    (all, values) => all.flatMap((one) => values.map((value) => [...one, value])),
    [[]],
  )
  return given
    .slice(0, 150)
    .map((values) => [`${at}(${values.join()})`, (words as (...given: unknown[]) => string)(...values)])
}

const english = async () =>
  Promise.all(
    FILES.map(async (file) => {
      const module = (await import(`../../shared/locales/en/${file}.ts`)) as Record<string, unknown>
      return [file, module[file] ?? module['words']] as const
    }),
  )

describe('the table of English', () => {
  const rows = rowsOf('en')
  const texts = Object.fromEntries(rows.map(({ key, english: text }) => [key, text]))

  test('says what the English words say, for all values that they are called with', async () => {
    const translation = translationOf('en', texts)
    for (const [file, words] of await english()) {
      const again = new Map(saidBy(file, translatedWords(file, words, translation), translation))
      for (const [where, said] of saidBy(file, words, translation))
        // Values that never occur together leave a gap, and have no row.
        if (!/ {2}|^ /.test(said)) expect([where, again.get(where)]).toEqual([where, said])
    }
  })

  test('is accepted as a translation, and has every file of words but that of operators', async () => {
    expect(checkTexts('nl', texts)).toEqual({ texts, faults: [] })
    const files = new Set(rows.map(({ key }) => key.split('.')[0]!))
    expect([...files].toSorted()).toEqual(FILES.toSorted())
  })
})

test('a language with more plurals has a row for each, and each number its own', () => {
  const keys = rowsOf('pl').map(({ key }) => key)
  expect(keys.filter((key) => key.startsWith('walk.checkIn.total'))).toEqual([
    'walk.checkIn.total',
    'walk.checkIn.total[checkIns=1]',
    'walk.checkIn.total[checkIns=few]',
    'walk.checkIn.total[checkIns=many]',
  ])
  const { faults } = checkTexts('pl', { 'walk.checkIn.total[checkIns=few]': 'meldunki' })
  expect(faults).toMatchObject([{ fault: 'placeholder-lost', detail: '{checkIns}' }])
  const { checkIn } = translatedWords(
    'walk',
    { checkIn: { total: (checkIns: number) => `${checkIns} check-ins` } },
    translationOf('pl', {
      'walk.checkIn.total': '{checkIns} meldunku',
      'walk.checkIn.total[checkIns=1]': 'jeden meldunek',
      'walk.checkIn.total[checkIns=few]': '{checkIns} meldunki',
      'walk.checkIn.total[checkIns=many]': '{checkIns} meldunków',
    }),
  )
  expect([1, 2, 5, 22, 1.5].map((checkIns) => checkIn.total(checkIns))).toEqual([
    'jeden meldunek',
    '2 meldunki',
    '5 meldunków',
    '22 meldunki',
    '1.5 meldunku',
  ])
})

test('what is not translated is English, and no text of the event takes the place of a placeholder', () => {
  const { bot, share, page, levels } = serviceWords({
    nl: { 'bot.welcome': 'Welkom bij {event}!', 'all-pages.close': 'Sluiten', 'levels.0': 'Beginner' },
  })('nl')
  expect(bot.welcome('{km} $& Vierdaagse')).toBe('Welkom bij {km} $& Vierdaagse!')
  expect([
    bot.language,
    share.language,
    page.close,
    page.cancel,
    levels[0],
    bot.levels[0],
    levels[1],
  ]).toEqual(['nl', 'Nederlands', 'Sluiten', 'Cancel', 'Beginner', 'Beginner', 'Foundation Pilgrim'])
  expect(bot.photo(1)).toBe('Got your photo! 1 photo so far.')
})

test.each([
  ['walk.nothing', 'Niets', 'unknown-key', ''],
  ['constructor', 'Niets', 'unknown-key', ''],
  ['bot.language', 'nl', 'unknown-key', ''],
  ['walk.checkIn.total[checkIns=few]', '{checkIns} keer', 'unknown-key', ''],
  ['walk.welcome.title', 'Welkom', 'placeholder-lost', '{event}'],
  ['walk.welcome.title', 'Welkom bij {event} over {km}', 'placeholder-unknown', '{km}'],
  ['bot.labels.checkin', 'Meld hier jouw positie', 'too-long', '20'],
  ['bot.sos.console', 'De bedieningspagina openen', 'too-long', '20'],
  ['walk.__proto__', 'x', 'unknown-key', ''],
  ['een eigen rij \ud800', 'x', 'unknown-key', ''],
  ['walk.back', 'x'.repeat(1_001), 'too-long', '48'],
  ['walk.back', 'Te\u0000rug', 'character', 'U+0000'],
  ['walk.back', 'Terug \ud800', 'character', 'U+D800'],
  ['walk.back', '\u202eTerug', 'character', 'U+202E'],
  ['walk.back', 'Te\r\nrug', 'character', 'U+000D'],
  ['walk.back', 'Terug'.repeat(40), 'too-long', '48'],
  ['walk.back', '<b>Terug</b>', 'markup', '<'],
])('%j as %j is left out, and no other text with it', (key, text, fault, detail) => {
  const good = {
    'walk.retry': ' Nog een keer ',
    'walk.checkIn.total[checkIns=1]': 'Eén keer',
    'walk.way.map': '',
  }
  expect(checkTexts('nl', { [key]: text, ...good })).toEqual({
    texts: { 'walk.retry': 'Nog een keer', 'walk.checkIn.total[checkIns=1]': 'Eén keer' },
    faults: [{ key, fault: fault as 'markup', detail }],
  })
  const request = { language: 'nl', texts: { [key]: text, ...good }, version: 0 }
  expect(SetTranslationRequest.safeParse(request).success).toBe(true)
})

describe('a text for other values', () => {
  const wordsOf = (texts: Record<string, string>) => serviceWords({ nl: texts })('nl')

  test('does not stand for a value with a sentence of its own', () => {
    const { bot } = wordsOf({ 'bot.paused': 'Gepauzeerd: {message}', 'bot.photo': "{photos} foto's" })
    expect([bot.paused('Storm'), bot.paused(null)]).toEqual(['Gepauzeerd: Storm', BOT_WORDS.en.paused(null)])
    expect([bot.photo(1), bot.photo(2)]).toEqual(["1 foto's", "2 foto's"])
    const note = translatedWords('map', map, translationOf('nl', { 'map.crowdNote': 'Minstens {fewest}.' }))
    expect([0, 1, 5].map((fewest) => note.crowdNote(fewest))).toEqual([
      map.crowdNote(0),
      map.crowdNote(1),
      'Minstens 5.',
    ])
  })

  test('stands for one more closely where it is another sentence', () => {
    const { queue } = translatedWords(
      'walk',
      walk,
      translationOf('nl', {
        'walk.queue.waits': '{checkIns} keer, {points} plaatsen',
        'walk.queue.waits[points=0]': '{checkIns} keer',
      }),
    )
    expect([queue.waits(3, 4), queue.waits(1, 4), queue.waits(1, 0), queue.waits(0, 4)]).toEqual([
      '3 keer, 4 plaatsen',
      '1 keer, 4 plaatsen',
      '1 keer',
      walk.queue.waits(0, 4),
    ])
  })
})

test('a page of another release shows no sentence whose values differ, and ignores what it does not know', () => {
  const older = {
    checkIn: { button: 'Check in', total: (km: number, checkIns: number) => `${km} km, ${checkIns}` },
    back: (name: string) => `Back to ${name}`,
  }
  const newer = translationOf('nl', {
    'walk.checkIn.button': 'Inchecken',
    'walk.checkIn.total': '{checkIns} keer',
    'walk.back': 'Terug',
    'walk.welcome.title': 'Welkom bij {event}',
  })
  const { checkIn, back } = translatedWords('walk', older, newer)
  expect([checkIn.button, checkIn.total(5, 2), back('map')]).toEqual(['Inchecken', '5 km, 2', 'Back to map'])
})

test('the words of a translation are made once, whatever else of the settings changes', () => {
  const nl = { 'all-pages.close': 'Sluiten' }
  expect(serviceWords({ nl })('nl')).toBe(serviceWords({ nl, fr: {} })('nl'))
})

test.each([
  ['nl', null],
  ['pt-BR', null],
  ['sr-Latn', null],
  ['nld', 'browsers send nl'],
  ['dut', 'browsers send nl'],
  ['eng', 'is built in'],
  ['jpn', 'is built in'],
  ['zho', 'is built in'],
  ['mul', 'no language'],
  ['zxx', 'no language'],
  ['qqx', 'no language'],
  ...['ar', 'arz', 'prs', 'pes', 'per', 'ara', 'heb', 'fas', 'mzn', 'ji', 'iw', 'pa-PK', 'uz-AF', 'ks'].map(
    (tag) => [tag, 'from right to left'] as const,
  ),
])('the tag %p: %p', (tag, refusal) => {
  const check = expect(() => checkLanguage(tag))
  if (refusal === null) check.not.toThrow()
  else check.toThrow(refusal)
})

test('words of a language that is not offered are not public', () => {
  const event = { current: { languages: ['en'], translations: { nl: { 'walk.back': 'Terug' } } } }
  expect(() => showWords({ event } as never, new Request('http://localhost/'), 'nl')).toThrow('No words')
})

test('the table shows the texts of the event’s own language beside the English ones', async () => {
  const own = await builtInTexts('zh-Hant')
  expect([own['walk.welcome.title'], own['map.near'], own['levels.0']]).toEqual([
    '歡迎參加{event}',
    expect.stringContaining('{station}'),
    expect.any(String),
  ])
  const keys = new Set(rowsOf('nl').map(({ key }) => key))
  const missing = [...keys].filter((key) => !key.includes('[') && own[key] === undefined)
  expect(missing).toEqual([])
})
