import { createWords } from './language.ts'

export const pageWords = createWords({
  'zh-Hant': () => import('#shared/locales/zh-hant/page.ts'),
  'zh-Hans': () => import('#shared/locales/zh-hans/page.ts'),
  ja: () => import('#shared/locales/ja/page.ts'),
  en: () => import('#shared/locales/en/page.ts'),
})
