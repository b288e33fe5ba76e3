/**
 * The recovery code: the id's 128 bits as twelve BIP 39 words, with a checksum. In Chinese a word is one
 * character. A code may be typed in any of the languages, whatever the app's language.
 */
import { entropyToMnemonic, mnemonicToEntropy } from '@scure/bip39'
import { appIdOf, bytesOfAppId } from '#shared/core/rules/app-id.ts'
import { splitCode } from './app-id.ts'
import type { BuiltInLanguage, Language } from '#shared/contracts/bot.ts'

const WORDS = 12

/** Number of letters that identify a BIP 39 word in a Latin script. */
const PREFIX = 4

/** Fault of a typed code: wrong number of words, an unknown word, or words whose checksum is wrong. */
export type CodeFault =
  | { readonly fault: 'count'; readonly words: number }
  /** `number`: position of the word, from 1. */
  | { readonly fault: 'word'; readonly word: string; readonly number: number }
  | { readonly fault: 'checksum' }

/** The words of an id; null for an id that the app did not generate. */
export function wordsOf(id: string, wordlist: readonly string[]): readonly string[] | null {
  const bytes = bytesOfAppId(id)
  // Words of the Japanese list are separated by an ideographic space.
  return bytes && entropyToMnemonic(bytes, [...wordlist]).split(/\s+/u)
}

/**
 * The id of a typed code. Words may be shortened to four letters; spaces, numbers and punctuation are
 * ignored.
 */
export function idOfCode(
  typed: string,
  wordlists: readonly (readonly string[])[],
): { id: string } | CodeFault {
  const words = splitCode(typed)
  if (words.length !== WORDS) return { fault: 'count', words: words.length }
  const lists = wordlists.map((list) => {
    const known = list.map((word) => word.normalize('NFKD'))
    return { list, found: words.map((word) => indexIn(known, word)) }
  })
  const complete = lists.filter(({ found }) => found.every((index) => index >= 0))
  if (complete.length === 0) {
    // The list that knows most of the typed words.
    const known = ({ found }: (typeof lists)[number]) => found.filter((index) => index >= 0).length
    const best = lists.reduce((a, b) => (known(b) > known(a) ? b : a))
    const at = best.found.findIndex((index) => index < 0)
    return { fault: 'word', word: words[at]!, number: at + 1 }
  }
  for (const { list, found } of complete) {
    try {
      return { id: appIdOf(mnemonicToEntropy(found.map((index) => list[index]!).join(' '), [...list])) }
    } catch {
      // The checksum is wrong in this language; another one may fit.
    }
  }
  return { fault: 'checksum' }
}

function indexIn(list: readonly string[], word: string): number {
  const exact = list.indexOf(word)
  if (exact >= 0 || word.length < PREFIX || !/^[a-z]+$/.test(word)) return exact
  const longer = list.flatMap((known, index) => (known.startsWith(word) ? [index] : []))
  return longer.length === 1 ? longer[0]! : -1
}

// The word lists. Each is a separate file that is loaded on demand.
const LISTS: Readonly<Record<BuiltInLanguage, () => Promise<{ readonly wordlist: readonly string[] }>>> = {
  'zh-Hant': () => import('@scure/bip39/wordlists/traditional-chinese.js'),
  'zh-Hans': () => import('@scure/bip39/wordlists/simplified-chinese.js'),
  ja: () => import('@scure/bip39/wordlists/japanese.js'),
  en: () => import('@scure/bip39/wordlists/english.js'),
}

export const wordlistOf = async (language: Language): Promise<readonly string[]> =>
  (await (Object.hasOwn(LISTS, language) ? LISTS[language as BuiltInLanguage] : LISTS.en)()).wordlist

/** All lists, because a code may be typed in another language than the one it was written down in. */
export const allWordlists = async (): Promise<readonly (readonly string[])[]> =>
  Promise.all(Object.keys(LISTS).map(wordlistOf))
