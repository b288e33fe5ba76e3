/**
 * No traditional characters for readers of simplified Chinese: pages, bot, share pages, names of places and
 * levels.
 */
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { Converter } from 'opencc-js/t2cn'
import { counties, TAIWAN, towns } from '#shared/runtime/taiwan.ts'
import { BuiltInLanguage, BotAction } from '#shared/contracts/bot.ts'
import { DEFAULT_SLOTS } from '#shared/service/line/scheduled-notifications.ts'
import { BOT_WORDS, LEVEL_NAMES } from '#shared/locales/by-language.ts'
import { UNITS } from '#shared/locales/units.ts'
import { LEVELS } from '#shared/core/rules/levels.ts'
import { progressOf } from '#services/feedback-media/shares/progress.ts'
import { liveMap, sharePage, shareTexts } from '#services/feedback-media/shares/share-page.ts'
import { menu, photoReply, replyTo, welcome } from '#services/line-bot/bot/replies.ts'

const simplified = Converter({ from: 't', to: 'cn' })
const expectSimplified = (text: string): void => expect(text).toBe(simplified(text))

const FOLDER = new URL('../../shared/locales/', import.meta.url).pathname
const filesOf = (language: string): string[] => readdirSync(`${FOLDER}${language}`).toSorted()

const figures = {
  level: LEVELS[0]!,
  km: 3.2,
  checkins: 2,
  next: { level: 2, km_needed: 11.8, checkins_needed: 3 },
  carbonKg: 0,
  savedKg: 0.5,
  incomplete: true,
}
const places = {
  event: 'E',
  home: 'https://e.test',
  checkin: 'https://e.test',
  app: 'https://e.test/walk/',
  survey: 'https://e.test',
  link: 'https://e.test/s/x',
  card: 'https://e.test/s/x.png',
  surveyCompleted: false,
}

describe('words', () => {
  test('are made for every file of the pilgrims’ words, and hold simplified characters alone', () => {
    const pilgrims = filesOf('zh-hant').filter((name) => !name.startsWith('console'))
    expect(filesOf('zh-hans').filter((name) => name !== 'place-characters.ts')).toEqual(pilgrims)
    for (const name of pilgrims) expectSimplified(readFileSync(`${FOLDER}zh-hans/${name}`, 'utf8'))
    expectSimplified(JSON.stringify(UNITS['zh-Hans']))
    expectSimplified(JSON.stringify(DEFAULT_SLOTS.map(({ text }) => text['zh-Hans'])))
  })

  test('say the mainland’s words where Taiwan’s differ', () => {
    const all = filesOf('zh-hans')
      .map((name) => readFileSync(`${FOLDER}zh-hans/${name}`, 'utf8'))
      .join('\n')
    for (const taiwans of [
      '「',
      '」',
      '主办单位',
      '支手机',
      '纪录',
      '公尺',
      '公车',
      '机车',
      '捷运',
      '网路',
      '萤幕',
      '讯',
      '设定',
      '预设',
      '个资',
      '登入',
      '显卡',
    ])
      expect({ taiwans, said: all.includes(taiwans) }).toEqual({ taiwans, said: false })
  })
})

test('the bot answers in simplified characters, with the names of the levels that the pages show', () => {
  const words = BOT_WORDS['zh-Hans']
  const answers = [
    ...BotAction.options.map((action) => replyTo(action, words, places, figures)),
    ...BotAction.options.map((action) => replyTo(action, words, { ...places, link: null, card: null }, null)),
    welcome(words, 'E'),
    menu(words),
    photoReply(words, 2),
  ]
  expectSimplified(JSON.stringify(answers))
  expectSimplified([words.paused(null), words.summaryTitle('E'), words.summary(1, 2, 3, 4)].join())
  for (const language of BuiltInLanguage.options)
    for (const level of LEVELS)
      expect(JSON.stringify(replyTo('level', BOT_WORDS[language], places, { ...figures, level }))).toContain(
        `"${level.icon} ${LEVEL_NAMES[language][level.level - 1]}"`,
      )
})

test('the page of a link names towns in simplified characters', () => {
  const nowMs = Date.parse('2026-04-12T04:00:00Z')
  const texts = shareTexts('zh-Hans', { event: 'E', name: null, timeZone: 'Asia/Taipei', nowMs })
  const line = [{ lat: 24.3487, lng: 120.6215, t: nowMs - 60_000 }]
  const progress = progressOf(line, { route: null, stations: [] }, nowMs)
  const view = {
    ...figures,
    name: null,
    unlocked: true,
    status: 'active' as const,
    message: null,
    messages: null,
    live: { untilMs: nowMs + 3_600_000, progress, line },
  }
  expect(liveMap(view, texts)).toContain('台中市大甲区')
  const page = sharePage({
    view,
    texts,
    url: places.home,
    imageUrl: places.card,
    homeUrl: places.home,
  })
  // The links to the other languages are in those languages.
  expectSimplified(page.replace(/<nav.*<\/nav>/s, ''))
})

test('maps name counties and towns in simplified characters', () => {
  const names = [...counties(1_000).names, ...towns(TAIWAN, 1_000).names]
  expect(names.length).toBeGreaterThan(350)
  for (const { zh, hans } of names) expect([zh, hans]).toEqual([zh, simplified(zh)])
})
