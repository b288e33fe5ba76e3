import type { MapWords } from '#shared/locales/words.ts'
import type { WordFiles } from '../frame/language.ts'

export const WORD_FILES: WordFiles<MapWords> = {
  'zh-Hant': () => import('#shared/locales/zh-hant/map.ts'),
  'zh-Hans': () => import('#shared/locales/zh-hans/map.ts'),
  ja: () => import('#shared/locales/ja/map.ts'),
  en: () => import('#shared/locales/en/map.ts'),
}
