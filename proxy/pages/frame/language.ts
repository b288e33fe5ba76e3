/** The reader's language: from `?lang=`, an earlier choice, or the browser; and the words in it. */
import { batch, computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import type { BuiltInLanguage, Language } from '#shared/contracts/bot.ts'
import { languageFor } from '#shared/core/rules/languages.ts'
import type { PageWords } from '#shared/locales/words.ts'
import { pageData } from './page-data.ts'
import { remember, remembered } from './storage.ts'

/** The built-in languages as their readers call them. */
export const LANGUAGES: Readonly<Partial<Record<Language, string>>> = {
  'zh-Hant': '繁體',
  'zh-Hans': '简体',
  ja: '日本語',
  en: 'English',
} satisfies Record<BuiltInLanguage, string>

interface Offer {
  readonly language: Language
  readonly languages: readonly Language[]
}

/** The languages that a reader can choose, besides English. */
export const offered = signal(pageData().languages)

/** The language requested by the URL or chosen by the reader, or else the best of the offered ones. */
const suitable = ({ language: own, languages }: Offer): Language =>
  [new URLSearchParams(location.search).get('lang'), remembered('language')].find(
    (asked): asked is Language =>
      asked !== null && (Object.hasOwn(LANGUAGES, asked) || languages.includes(asked)),
  ) ?? languageFor(navigator.languages, own, languages)

/** Applies the event's current languages, unless the reader has requested or chosen one. */
export function offerLanguages(offer: Offer): void {
  if (offer.languages.join() !== offered.peek().join()) offered.value = offer.languages
  const next = suitable(offer)
  if (next !== current.peek()) void loadWords(next)
}

/** The language whose words are being loaded, or shown. */
let wanted = suitable(pageData())
const current = signal(wanted)
/** The language of the page. It changes once its words are loaded. */
export const language: ReadonlySignal<Language> = current

effect(() => {
  document.documentElement.lang = current.value
})

/** Files of words: each language is loaded on demand. */
export type WordFiles<F> = Readonly<Record<BuiltInLanguage, () => Promise<F>>>

/**
 * A file of words in a language; one that is not built in is made from the English file.
 * @param path of its words in a translation
 */
export const wordsIn = async <F extends object>(
  next: Language,
  path: string,
  files: WordFiles<F>,
): Promise<F> =>
  (files as Partial<Record<Language, () => Promise<F>>>)[next]?.() ??
  (await import('./further-language.ts')).translated(next, path, await files.en(), () => void loadWords())

/** A page has one file of words of its own, which also has those of all pages. */
interface PageFile<W> {
  readonly words: W
  readonly page: PageWords
}

let load: (next: Language) => Promise<() => void>
const ofAllPages = signal<PageWords | null>(null)

/** What all pages say. */
export const pageWords = computed(() => ofAllPages.value!)

/**
 * The words of a page in its language, as a signal: components that read them rerender when the language changes.
 * Available once `loadWords` has resolved.
 */
export function createWords<W>(path: string, files: WordFiles<PageFile<W>>): ReadonlySignal<W> {
  const loaded = signal<W | null>(null)
  load = async (next) => {
    const { words, page } = await wordsIn(next, path, files)
    return () => {
      loaded.value = words
      ofAllPages.value = page
    }
  }
  return computed(() => loaded.value!)
}

let loading: Promise<void>

/** Loads the words of the page in a language, and shows them. The last call decides for all that wait. */
export function loadWords(next = wanted): Promise<void> {
  wanted = next
  return (loading = showWords(next))
}

async function showWords(next: Language): Promise<void> {
  const show = await load(next)
  // Without the words of the language that was asked for later, these are better than none.
  const hasLater = () =>
    loading.then(
      () => true,
      () => false,
    )
  if (next !== wanted && (await hasLater())) return
  batch(() => {
    show()
    current.value = next
  })
}

/** The reader's own choice, stored on this device. */
export async function chooseLanguage(next: Language): Promise<void> {
  await loadWords(next)
  remember('language', next)
}
