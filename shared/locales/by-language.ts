/** The texts of the services, and the names of the levels, by language. */
import type { BuiltInLanguage, Language } from '#shared/contracts/bot.ts'
import { bot as botEn } from './en/bot.ts'
import { levels as levelsEn } from './en/levels.ts'
import { words as pageEn } from './en/all-pages.ts'
import { share as shareEn } from './en/share.ts'
import { bot as botJa } from './ja/bot.ts'
import { levels as levelsJa } from './ja/levels.ts'
import { words as pageJa } from './ja/all-pages.ts'
import { share as shareJa } from './ja/share.ts'
import { translatedWords } from './further/translated-words.ts'
import { translationOf } from './further/translation-table.ts'
import type { BotWords, PageWords, ShareWords } from './words.ts'
import { bot as botHans } from './zh-hans/bot.ts'
import { levels as levelsHans } from './zh-hans/levels.ts'
import { words as pageHans } from './zh-hans/all-pages.ts'
import { share as shareHans } from './zh-hans/share.ts'
import { bot as botHant } from './zh-hant/bot.ts'
import { levels as levelsHant } from './zh-hant/levels.ts'
import { words as pageHant } from './zh-hant/all-pages.ts'
import { share as shareHant } from './zh-hant/share.ts'

type ByLanguage<T> = Readonly<Record<BuiltInLanguage, T>>

export const BOT_WORDS: ByLanguage<BotWords> = {
  'zh-Hant': botHant,
  'zh-Hans': botHans,
  en: botEn,
  ja: botJa,
}

/** The page of a link (`/s/<id>`). */
export const SHARE_WORDS: ByLanguage<ShareWords> = {
  'zh-Hant': shareHant,
  'zh-Hans': shareHans,
  en: shareEn,
  ja: shareJa,
}

/** Texts shared by all pages. */
export const PAGE_WORDS = { 'zh-Hant': pageHant, 'zh-Hans': pageHans, en: pageEn, ja: pageJa }

/** Names of the levels, level 1 first, where the owner has set none. */
export const LEVEL_NAMES: ByLanguage<readonly string[]> = {
  'zh-Hant': levelsHant,
  'zh-Hans': levelsHans,
  en: levelsEn,
  ja: levelsJa,
}

/** The words of the services in one language. */
export interface ServiceWords {
  readonly bot: BotWords
  readonly share: ShareWords
  readonly page: PageWords
  readonly levels: readonly string[]
}

const builtIn = (language: BuiltInLanguage): ServiceWords => ({
  bot: BOT_WORDS[language],
  share: SHARE_WORDS[language],
  page: PAGE_WORDS[language],
  levels: LEVEL_NAMES[language],
})

export const isBuiltIn = (language: Language): language is BuiltInLanguage =>
  Object.hasOwn(BOT_WORDS, language)

/** A language as its readers call it. */
export const ownName = (language: Language): string =>
  isBuiltIn(language)
    ? SHARE_WORDS[language].language
    : (new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language)

/** By texts, which stay the same object until a translation is replaced. */
const made = new WeakMap<object, ServiceWords>()

/** The words of a language that is not built in. */
const further = (language: Language, texts: Readonly<Record<string, string>>): ServiceWords =>
  made.getOrInsertComputed(texts, () => makeFurther(language, texts))

function makeFurther(language: Language, texts: Readonly<Record<string, string>>): ServiceWords {
  const translation = translationOf(language, texts)
  const inIt = <W>(path: string, english: W): W => translatedWords(path, english, translation)
  return {
    bot: { ...inIt('bot', BOT_WORDS.en), language },
    share: { ...inIt('share', SHARE_WORDS.en), language: ownName(language) },
    page: inIt('all-pages', PAGE_WORDS.en),
    levels: inIt('levels', LEVEL_NAMES.en),
  }
}

/**
 * The words of the services in any language of an event; English for others.
 * @param translations the texts of each language that is not built in
 */
export function serviceWords(
  translations: Readonly<Record<Language, Readonly<Record<string, string>>>>,
): (language: Language) => ServiceWords {
  return (language) =>
    isBuiltIn(language)
      ? builtIn(language)
      : Object.hasOwn(translations, language)
        ? further(language, translations[language]!)
        : builtIn('en')
}
