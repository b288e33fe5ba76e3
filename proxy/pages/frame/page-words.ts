import type { PageWords } from '#shared/locales/words.ts'
import type { WordFiles } from './language.ts'

/** The words of a page that has no more than what all pages share. */
export const WORD_FILES: WordFiles<{ readonly page: PageWords }> = {
  'zh-Hant': async () => ({ words: await import('#shared/locales/zh-hant/page.ts') }),
  'zh-Hans': async () => ({ words: await import('#shared/locales/zh-hans/page.ts') }),
  ja: async () => ({ words: await import('#shared/locales/ja/page.ts') }),
  en: async () => ({ words: await import('#shared/locales/en/page.ts') }),
}
