import type { PageWords } from '#shared/locales/words.ts'
import type { WordFiles } from '../frame/language.ts'

/** The names of things stay English here; the components' own words come in all languages. */
export const WORD_FILES: WordFiles<{ readonly page: PageWords }> = {
  'zh-Hant': async () => ({ words: await import('#shared/locales/zh-hant/page.ts') }),
  'zh-Hans': async () => ({ words: await import('#shared/locales/zh-hans/page.ts') }),
  ja: async () => ({ words: await import('#shared/locales/ja/page.ts') }),
  en: async () => ({ words: await import('#shared/locales/en/page.ts') }),
}
