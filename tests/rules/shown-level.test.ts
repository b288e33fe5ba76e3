/** Distance and level as displayed on the card and in the bot’s answer, and the remaining requirements. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { BuiltInLanguage } from '#shared/contracts/bot.ts'
import type { Content } from '#shared/runtime/picture-renderer/element.ts'
import { LEVELS, levelOf, nextLevel } from '#shared/core/rules/levels.ts'
import { roundKm } from '#shared/core/rules/rounding.ts'
import type { CardFacts } from '#services/feedback-media/cards/card-facts.ts'
import { shareCard } from '#services/feedback-media/cards/card-layout.ts'
import { replyTo } from '#services/line-bot/bot/replies.ts'
import { BOT_WORDS } from '#shared/locales/by-language.ts'

const MM_PER_KM = 1_000_000
/** Any distance, mostly just below a level. */
const distances = fc.oneof(
  fc.nat({ max: 400 * MM_PER_KM }),
  fc
    .tuple(fc.constantFrom(...LEVELS.slice(1)), fc.nat({ max: 20_000 }))
    .map(([{ minKm }, short]) => minKm * MM_PER_KM - short),
)
/** Enough for every level, so that only the distance decides. */
const CHECKINS = 40

function textsOf(content: Content | readonly Content[] | undefined): string[] {
  if (content === undefined) return []
  if (typeof content === 'string') return [content]
  if (Array.isArray(content)) return (content as readonly Content[]).flatMap(textsOf)
  return textsOf((content as Exclude<Content, string>).props.children)
}

const factsOf = (mm: number): CardFacts => {
  const level = levelOf(mm, CHECKINS)
  return {
    eventName: 'Walk',
    eventDays: null,
    displayName: 'Mei',
    language: 'en',
    pilgrimWord: 'Pilgrim',
    level,
    levelName: level.en,
    km: roundKm(mm),
    checkins: CHECKINS,
    carbonSavedKg: 0,
    unlocked: false,
  }
}

const places = {
  event: 'Walk',
  home: 'https://e.test',
  checkin: 'https://e.test',
  app: 'https://e.test/walk/',
  survey: 'https://e.test',
  link: null,
  card: null,
  surveyCompleted: false,
}

/** Displayed kilometres, in hundredths. */
const hundredths = (text: string): number => Math.round(Number(text) * 100)

test('a card and the bot tell one distance; with what the bot says is needed it is exactly the next level’s', () => {
  fc.assert(
    fc.property(distances, fc.constantFrom(...BuiltInLanguage.options), (mm, language) => {
      const level = levelOf(mm, CHECKINS)
      const minimum = LEVELS[level.level]?.minKm
      const card = textsOf(shareCard(factsOf(mm), null))
      const drawn = card[card.indexOf('km') - 1]!
      const [reply] = replyTo('level', BOT_WORDS[language], places, {
        level,
        km: roundKm(mm),
        checkins: CHECKINS,
        next: nextLevel(mm, CHECKINS),
        carbonKg: 0,
        savedKg: 0,
        incomplete: false,
      })
      const said = [...JSON.stringify(reply).matchAll(/([\d.]+) (?:km|公里)/g)].map(([, km]) => km!)
      const walked = said[0]!
      expect(drawn).toBe(walked)
      // Looking it up in the table gives the same level.
      expect(hundredths(drawn)).toBeGreaterThanOrEqual(level.minKm * 100)
      if (minimum === undefined) return
      expect(hundredths(walked)).toBeLessThan(minimum * 100)
      expect(hundredths(walked) + hundredths(said.at(-1)!)).toBe(minimum * 100)
    }),
  )
})
