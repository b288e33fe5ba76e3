/** The bot's texts, by language. */
import type { Language } from '#shared/contracts/bot.ts'
import { EN } from './en/bot.ts'
import { JA } from './ja/bot.ts'
import type { Locale } from './bot-locale.ts'
import { bot as ZH_HANS } from './zh-hans/bot.ts'
import { bot as ZH_HANT } from './zh-hant/bot.ts'

export const LOCALES: Readonly<Record<Language, Locale>> = {
  'zh-Hant': ZH_HANT,
  'zh-Hans': ZH_HANS,
  en: EN,
  ja: JA,
}
