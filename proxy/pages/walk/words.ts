import type { Language } from '#shared/contracts/bot.ts'
import type { RecordedFileWords, SurveyWords, WalkWords } from '#shared/locales/words.ts'
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

/** The words of the view of a recorded file. */
export const RECORDED_FILE_FILES: Readonly<
  Record<Language, () => Promise<{ readonly words: RecordedFileWords }>>
> = {
  'zh-Hant': () => import('#shared/locales/zh-hant/recorded-file.ts'),
  'zh-Hans': () => import('#shared/locales/zh-hans/recorded-file.ts'),
  ja: () => import('#shared/locales/ja/recorded-file.ts'),
  en: () => import('#shared/locales/en/recorded-file.ts'),
}
