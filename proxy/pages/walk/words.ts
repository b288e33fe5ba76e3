import type { Language } from '#shared/contracts/bot.ts'
import type { PageWords } from '#shared/locales/words.ts'
import type { SurveyWords, WalkWords } from '#shared/locales/words.ts'
import type { WordFiles } from '../frame/language.ts'

export interface Words {
  readonly page: PageWords
  readonly walk: WalkWords
}

const both = async (
  page: Promise<{ readonly page: PageWords }>,
  walk: Promise<{ readonly walk: WalkWords }>,
): Promise<{ readonly words: Words }> => ({ words: { page: (await page).page, walk: (await walk).walk } })

export const WORD_FILES: WordFiles<Words> = {
  'zh-Hant': () => both(import('#shared/locales/zh-hant/page.ts'), import('#shared/locales/zh-hant/walk.ts')),
  'zh-Hans': () => both(import('#shared/locales/zh-hans/page.ts'), import('#shared/locales/zh-hans/walk.ts')),
  ja: () => both(import('#shared/locales/ja/page.ts'), import('#shared/locales/ja/walk.ts')),
  en: () => both(import('#shared/locales/en/page.ts'), import('#shared/locales/en/walk.ts')),
}

/** The survey's words, which are needed in its view alone. */
export const SURVEY_FILES: Readonly<Record<Language, () => Promise<{ readonly survey: SurveyWords }>>> = {
  'zh-Hant': () => import('#shared/locales/zh-hant/survey.ts'),
  'zh-Hans': () => import('#shared/locales/zh-hans/survey.ts'),
  ja: () => import('#shared/locales/ja/survey.ts'),
  en: () => import('#shared/locales/en/survey.ts'),
}
