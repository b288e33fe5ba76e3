import type { MapWords } from '#shared/locales/words.ts'
import { createWords } from '../frame/language.ts'

export const words = createWords<MapWords>('map', {
  'zh-Hant': () => import('#shared/locales/zh-hant/map.ts'),
  'zh-Hans': () => import('#shared/locales/zh-hans/map.ts'),
  ja: () => import('#shared/locales/ja/map.ts'),
  en: () => import('#shared/locales/en/map.ts'),
})
