import type { Language } from '#shared/contracts/bot.ts'
import type { SurveyWords, WalkWords } from '#shared/locales/words.ts'
import { createWords } from '../frame/language.ts'

export const words = createWords<WalkWords>({
  'zh-Hant': () => import('#shared/locales/zh-hant/walk.ts'),
  'zh-Hans': () => import('#shared/locales/zh-hans/walk.ts'),
  ja: () => import('#shared/locales/ja/walk.ts'),
  en: () => import('#shared/locales/en/walk.ts'),
})

/** The survey's words, which are needed in its view alone. */
export const SURVEY_FILES: Readonly<Record<Language, () => Promise<{ readonly words: SurveyWords }>>> = {
  'zh-Hant': () => import('#shared/locales/zh-hant/survey.ts'),
  'zh-Hans': () => import('#shared/locales/zh-hans/survey.ts'),
  ja: () => import('#shared/locales/ja/survey.ts'),
  en: () => import('#shared/locales/en/survey.ts'),
}
