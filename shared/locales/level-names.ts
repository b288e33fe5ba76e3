/** Names of the levels on pages, by language. */
import type { Language } from '#shared/contracts/bot.ts'
import { page as EN } from './en/page.ts'
import { page as JA } from './ja/page.ts'
import { page as ZH_HANS } from './zh-hans/page.ts'
import { page as ZH_HANT } from './zh-hant/page.ts'

const NAMES: Readonly<Record<Language, readonly string[]>> = {
  'zh-Hant': ZH_HANT.levels,
  'zh-Hans': ZH_HANS.levels,
  en: EN.levels,
  ja: JA.levels,
}

/** The name of a level from 1 to 9, in the characters of the language. */
export const levelName = (level: number, language: Language): string => NAMES[language][level - 1]!
