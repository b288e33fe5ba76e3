import { createWords } from './language.ts'

export const pageWords = createWords({
  'zh-Hant': () => import('#shared/locales/zh-hant/all-pages.ts'),
  'zh-Hans': () => import('#shared/locales/zh-hans/all-pages.ts'),
  ja: () => import('#shared/locales/ja/all-pages.ts'),
  en: () => import('#shared/locales/en/all-pages.ts'),
})
