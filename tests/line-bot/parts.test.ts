/** The bot's pure parts. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { BuiltInLanguage, BotAction, type Language } from '#shared/contracts/bot.ts'
import type { Cause } from '#shared/service/alerts/health-checks.ts'
import { decide, type Incident } from '#shared/service/alerts/when-to-alert.ts'
import { LEVELS } from '#shared/core/rules/levels.ts'
import { actionOfPostback, postbackData, wishOfText } from '#services/line-bot/bot/keywords.ts'
import { cut, link } from '#services/line-bot/bot/flex.ts'
import {
  emergency,
  locationReply,
  otherWalk,
  menu,
  photoReply,
  replyTo,
  welcome,
} from '#services/line-bot/bot/replies.ts'
import { readConfig } from '#shared/runtime/config/config.ts'
import { eventOf } from '#shared/pilgrims/event-settings.ts'
import { BOT_WORDS } from '#shared/locales/by-language.ts'
import { backoffMs } from '#services/line-bot/sending/sending-loop.ts'
import { messageFaults } from '#tests/helpers/line-rules.ts'

test('a label is cut to what LINE takes', () => {
  expect(link('Call the organisers now', 'tel:1')).toMatchObject({ label: 'Call the organisers…' })
})

describe('keywords', () => {
  test.each([
    ['我要打卡', 'checkin'],
    ['GPS打卡2', 'checkin'],
    ['Check-in please', 'checkin'],
    ['ＣＨＥＣＫ ＩＮ', 'checkin'],
    ['チェックインしたい', 'checkin'],
    ['我的等級？', 'level'],
    ['等级', 'level'],
    ['What is my LEVEL', 'level'],
    ['碳足跡', 'carbon'],
    ['CO2', 'carbon'],
    ['my card', 'card'],
    ['我的卡片', 'card'],
    ['分享', 'share'],
    ['アンケート', 'survey'],
    ['about', 'about'],
    ['使い方', 'help'],
    ['help!', 'help'],
    ...(['排行', '紀錄', '我的紀錄', '我的成就', '记录', 'ranking', 'ランキング', '私の記録'] as const).map(
      (text) => [text, 'level'] as const,
    ),
    ...(
      ['回報', '問題', '建議', '我的卡住了打不開', 'Feedback', 'not working', 'フィードバック'] as const
    ).map((text) => [text, 'report'] as const),
    ...(['媽祖在哪裡', '地圖', '神轿到哪里了', 'Where is the palanquin?', '地図', 'どこ'] as const).map(
      (text) => [text, 'map'] as const,
    ),
    ...(['刪除我的資料', '隱私', '隐私', 'delete my data', 'プライバシー'] as const).map(
      (text) => [text, 'data'] as const,
    ),
    ['功能', 'help'],
    ['救命', 'emergency'],
    ['我受傷了', 'emergency'],
    ['阿嬤走失', 'emergency'],
    ['迷路了怎麼辦', 'emergency'],
    ['有人晕倒', 'emergency'],
    ['Help me!', 'emergency'],
    ['I’m lost', 'emergency'],
    ['My father can’t breathe', 'emergency'],
    ['ＳＯＳ', 'emergency'],
    ['119', 'emergency'],
    ['1190', null],
    ['助けて', 'emergency'],
    ['足をけがしました', 'emergency'],
    ['discard', null],
    ['showing off', null],
    ['hello', null],
    ['', null],
  ] as const)('%p asks for %p', (text, action) => expect(wishOfText(text)).toBe(action))

  test('every label of a button is also a keyword', () => {
    for (const language of BuiltInLanguage.options)
      for (const action of BotAction.options)
        expect([language, action, wishOfText(BOT_WORDS[language].labels[action])]).toEqual([
          language,
          action,
          action,
        ])
  })

  test('buttons', () => {
    for (const action of BotAction.options) expect(actionOfPostback(postbackData(action))).toBe(action)
    for (const data of ['', 'action=', 'action=delete', 'x=level']) expect(actionOfPostback(data)).toBeNull()
  })
})

test('all answers stay within LINE’s limits, for any event name and figures', () => {
  const figures = fc.record({
    level: fc.constantFrom(...LEVELS),
    km: fc.double({ min: 0, max: 1e6, noNaN: true }),
    checkins: fc.nat(),
    next: fc.option(
      fc.record({
        level: fc.nat(9),
        km_needed: fc.double({ min: 0, max: 1e6, noNaN: true }),
        checkins_needed: fc.nat(),
      }),
    ),
    carbonKg: fc.double({ min: -1e6, max: 1e6, noNaN: true }),
    savedKg: fc.double({ min: -1e6, max: 1e6, noNaN: true }),
    incomplete: fc.boolean(),
  })
  fc.assert(
    fc.property(
      fc.constantFrom(...BuiltInLanguage.options),
      fc.constantFrom(...BotAction.options),
      fc.string({ minLength: 1, maxLength: 300, unit: 'grapheme' }),
      fc.option(figures),
      (language, action, event, known) => {
        const words = BOT_WORDS[language]
        const home = 'https://event.example'
        const link = known === null ? null : `${home}/s/kT2vXq8ZrB0mWc5NfJ7eLp1d`
        const card = link && `${link}.png`
        const places = {
          event,
          home,
          app: `${home}/walk/`,
          checkin: home,
          survey: home,
          link,
          card,
          surveyCompleted: known === null,
        }
        for (const messages of [
          replyTo(action, words, places, known),
          welcome(words, event),
          menu(words),
          photoReply(words, 3),
          photoReply(words, null),
          locationReply(words, places),
          otherWalk(words, places),
          emergency(words, { emergencyNumber: '119', organiserPhone: '+886 (4) 2662-1234' }),
          emergency(words, { emergencyNumber: null, organiserPhone: null }),
        ])
          expect(messageFaults(messages)).toEqual([])
      },
    ),
    { numRuns: 300 },
  )
})

test('figures without pending points are marked as incomplete, in every language', () => {
  const level = LEVELS[0]!
  const figures = { level, km: 0, checkins: 0, next: null, carbonKg: 0, savedKg: 0, incomplete: true }
  const home = 'https://event.example'
  const places = {
    event: 'x',
    home,
    app: `${home}/walk/`,
    checkin: home,
    survey: home,
    link: null,
    card: null,
    surveyCompleted: false,
  }
  for (const language of BuiltInLanguage.options)
    for (const action of ['level', 'carbon'] as const) {
      const words = BOT_WORDS[language]
      const said = (known: typeof figures) => JSON.stringify(replyTo(action, words, places, known))
      expect(said(figures)).toContain(words.incomplete)
      expect(said(figures)).not.toContain(words.nothingYet)
      expect(said({ ...figures, incomplete: false })).not.toContain(words.incomplete)
    }
})

test('an answer depends on what is known of the pilgrim', () => {
  const level = LEVELS[0]!
  const figures = { level, km: 1, checkins: 0, next: null, carbonKg: 0, savedKg: 0, incomplete: false }
  const home = 'https://event.test'
  const places = {
    event: 'Walk',
    home,
    app: `${home}/walk/`,
    checkin: home,
    survey: home,
    link: null,
    card: null,
    surveyCompleted: false,
  }
  for (const language of BuiltInLanguage.options) {
    const words = BOT_WORDS[language]
    const said = (...args: [action: 'help' | 'level' | 'share', event?: string, checkins?: number]) => {
      const [action, event = 'Walk', checkins = 0] = args
      return JSON.stringify(replyTo(action, words, { ...places, event }, { ...figures, checkins }))
    }
    expect(words.help.length).toBeGreaterThan(2)
    for (const line of words.help) expect(said('help')).toContain(JSON.stringify(line).slice(1, -1))
    expect(said('level')).toContain(words.nothingYet)
    expect(said('level', 'Walk', 1)).not.toContain(words.nothingYet)
    expect(said('share')).toContain('https://line.me/R/share')
    // LINE refuses longer addresses.
    expect(said('share', 'å'.repeat(300))).not.toContain('https://line.me/R/share')
  }
})

test('a truncated text splits no character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 20 }), (text, max) => {
      const short = cut(text, max)
      expect(short.length).toBeLessThanOrEqual(max)
      expect(short.isWellFormed()).toBe(true)
      if (text.length <= max) expect(short).toBe(text)
    }),
  )
})

test('the back-off doubles from a second to a minute, with 50 % jitter', () => {
  const ends = (random: number) =>
    [1, 2, 3, 6, 7, 30].map((attempts) => backoffMs(attempts, () => random) / 1_000)
  expect(ends(1)).toEqual([1, 2, 4, 32, 60, 60])
  expect(ends(0)).toEqual([0.5, 1, 2, 16, 30, 30])
})

describe('an incident', () => {
  const MINUTE = 60_000
  const failure: Cause = { key: 'database', failure: true, text: 'x' }
  const warning: Cause = { key: 'disk', failure: false, text: 'y' }
  /** Minutes at which an alert is sent. */
  const run = (minutes: number, causesAt: (minute: number) => Cause[], everyMs = 15_000) => {
    let incident: Incident | null = null
    const said: string[] = []
    for (let ms = 0; ms <= minutes * MINUTE; ms += everyMs) {
      const decision = decide(incident, causesAt(ms / MINUTE), ms, `i${ms}`)
      if (decision.say !== 'nothing') said.push(`${decision.say} ${ms / MINUTE}`)
      incident = decision.next
    }
    return said
  }

  test('alerts immediately, then at growing intervals up to 240 min; recovery is reported once', () => {
    const alerts = [0, 10, 40, 100, 220, 460, 700, 940].map((minute) => `alert ${minute}`)
    expect(run(1_200, (minute) => (minute < 1_000 ? [failure] : []))).toEqual([...alerts, 'recovery 1001'])
  })

  test('an additional cause does not restart the schedule, and a cause that disappears does not end it', () => {
    const causes = (minute: number) =>
      minute < 30
        ? [failure]
        : minute < 50
          ? [failure, { ...failure, key: 'flush' as const }]
          : [{ ...failure, key: 'flush' as const }]
    expect(run(110, causes)).toEqual(['alert 0', 'alert 10', 'alert 40', 'alert 100'])
  })

  test('what a clock that was a day ahead has noted silences neither the next alert nor the recovery', () => {
    const day = 1_440 * MINUTE
    const { next } = decide(null, [failure], day, 'i')
    const alerted = [0, 9, 10].map((minute) => decide(next, [failure], minute * MINUTE, 'i').say)
    expect(alerted).toEqual(['nothing', 'nothing', 'nothing'])
    const corrected = decide(next, [failure], 0, 'i').next
    expect(decide(corrected, [failure], 10 * MINUTE, 'i').say).toBe('alert')
    const calm = decide(decide(corrected, [], day, 'i').next, [], 0, 'i').next
    expect(decide(calm, [], MINUTE, 'i')).toEqual({ say: 'recovery', next: null })
  })

  test('causes that come and go within a minute are one incident', () => {
    expect(run(9, (minute) => (minute % 1 < 0.5 ? [failure] : []))).toEqual(['alert 0'])
  })

  test('a failure during a warning alerts immediately, and the schedule continues', () => {
    expect(run(50, (minute) => (minute < 15 ? [warning] : [warning, failure]))).toEqual([
      'alert 0',
      'alert 10',
      'alert 15',
      'alert 40',
    ])
  })

  test('the next failure alerts immediately, too, hours after the first, while the warning lasts', () => {
    const failing = (minute: number) => (minute > 300 && minute < 310) || (minute > 330 && minute < 331)
    expect(run(340, (minute) => (failing(minute) ? [warning, failure] : [warning]))).toEqual([
      ...[0, 10, 40, 100, 220].map((minute) => `alert ${minute}`),
      'alert 300.25',
      'alert 330.25',
    ])
  })
})

test('the bot says the event’s own words, and its defaults where a language has none', () => {
  const config = readConfig({})
  const { parts } = config.event
  const { botWords } = eventOf(
    config,
    {
      ...parts,
      words: { followed: 'walk', level_names: parts.words.level_names.with(0, { en: 'Stroller' }) },
      messages: { ...parts.messages, welcome: { 'zh-Hant': '來走{event}，{event}！', en: 'Join {event}.' } },
    },
    1,
    {},
  )
  const level = {
    level: LEVELS[0]!,
    km: 0,
    checkins: 1,
    next: null,
    carbonKg: 0,
    savedKg: 0,
    incomplete: false,
  }
  const places = {
    event: 'E',
    home: 'h',
    app: 'a',
    checkin: 'c',
    survey: 's',
    link: null,
    card: null,
    surveyCompleted: false,
  }
  const said = (action: BotAction, language: Language) =>
    JSON.stringify(replyTo(action, botWords(language), places, level))
  expect(said('level', 'en')).toContain('Stroller')
  expect(said('level', 'ja')).toContain('煉気香客')
  expect(said('map', 'en')).toContain('where the walk is')
  expect(botWords('en').welcome('$& Walk')).toBe('Join $& Walk.')
  expect(botWords('zh-Hans').welcome('E')).toBe('來走E，E！')
  expect(botWords('ja').welcome('E')).toBe(BOT_WORDS.ja.welcome('E'))
})
