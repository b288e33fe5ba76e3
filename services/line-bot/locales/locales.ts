/** The bot's texts, by language. */
import type { Language } from '#shared/contracts/bot.ts'
import { EN } from './en.ts'
import { JA } from './ja.ts'
import type { Locale } from './locale.ts'
import { ZH_HANS } from './zh-hans.ts'
import { ZH_HANT } from './zh-hant.ts'

export const LOCALES: Readonly<Record<Language, Locale>> = {
  'zh-Hant': ZH_HANT,
  'zh-Hans': ZH_HANS,
  en: EN,
  ja: JA,
}
