import type { Language } from '#shared/contracts/bot.ts'
import type { RecordedFileWords, SurveyWords, WalkWords } from '#shared/locales/words.ts'
import { createWords, type WordFiles, wordsIn } from '../frame/language.ts'

export const words = createWords<WalkWords>('walk', {
  'zh-Hant': () => import('#shared/locales/zh-hant/walk.ts'),
  'zh-Hans': () => import('#shared/locales/zh-hans/walk.ts'),
  ja: () => import('#shared/locales/ja/walk.ts'),
  en: () => import('#shared/locales/en/walk.ts'),
})

/** The survey's words, which are needed in its view alone. */
const SURVEY_FILES: WordFiles<{ readonly words: SurveyWords }> = {
  'zh-Hant': () => import('#shared/locales/zh-hant/survey.ts'),
  'zh-Hans': () => import('#shared/locales/zh-hans/survey.ts'),
  ja: () => import('#shared/locales/ja/survey.ts'),
  en: () => import('#shared/locales/en/survey.ts'),
}

export const surveyWords = (language: Language) => wordsIn(language, 'survey', SURVEY_FILES)

/** The words of the view of a recorded file. */
const RECORDED_FILE_FILES: WordFiles<{ readonly words: RecordedFileWords }> = {
  'zh-Hant': () => import('#shared/locales/zh-hant/recorded-file.ts'),
  'zh-Hans': () => import('#shared/locales/zh-hans/recorded-file.ts'),
  ja: () => import('#shared/locales/ja/recorded-file.ts'),
  en: () => import('#shared/locales/en/recorded-file.ts'),
}

export const recordedFileWords = (language: Language) =>
  wordsIn(language, 'recorded-file', RECORDED_FILE_FILES)
