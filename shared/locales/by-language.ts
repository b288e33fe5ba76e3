/** The texts of the services, and the names of the levels, by language. */
import type { Language } from '#shared/contracts/bot.ts'
import { bot as botEn } from './en/bot.ts'
import { levels as levelsEn } from './en/levels.ts'
import { words as pageEn } from './en/all-pages.ts'
import { share as shareEn } from './en/share.ts'
import { bot as botJa } from './ja/bot.ts'
import { levels as levelsJa } from './ja/levels.ts'
import { words as pageJa } from './ja/all-pages.ts'
import { share as shareJa } from './ja/share.ts'
import type { BotWords, ShareWords } from './words.ts'
import { bot as botHans } from './zh-hans/bot.ts'
import { levels as levelsHans } from './zh-hans/levels.ts'
import { words as pageHans } from './zh-hans/all-pages.ts'
import { share as shareHans } from './zh-hans/share.ts'
import { bot as botHant } from './zh-hant/bot.ts'
import { levels as levelsHant } from './zh-hant/levels.ts'
import { words as pageHant } from './zh-hant/all-pages.ts'
import { share as shareHant } from './zh-hant/share.ts'

type ByLanguage<T> = Readonly<Record<Language, T>>

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
