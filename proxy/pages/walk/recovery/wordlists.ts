/** The word lists of BIP 39 in the app's languages. Each is a file of its own that is loaded when it is needed. */
import type { Language } from '#shared/contracts/bot.ts'

const LISTS: Readonly<Record<Language, () => Promise<{ readonly wordlist: readonly string[] }>>> = {
  'zh-Hant': () => import('@scure/bip39/wordlists/traditional-chinese.js'),
  'zh-Hans': () => import('@scure/bip39/wordlists/simplified-chinese.js'),
  ja: () => import('@scure/bip39/wordlists/japanese.js'),
  en: () => import('@scure/bip39/wordlists/english.js'),
}

export const wordlistOf = async (language: Language): Promise<readonly string[]> =>
  (await LISTS[language]()).wordlist

/** All lists, because a code may be typed in another language than it was written down in. */
export const allWordlists = async (): Promise<readonly (readonly string[])[]> =>
  Promise.all((Object.keys(LISTS) as Language[]).map(wordlistOf))
