/** The reader's language: from `?lang=`, an earlier choice, or the browser; and the words in it. */
import { batch, computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import type { Language } from '#shared/contracts/bot.ts'
import { languageFor } from '#shared/core/rules/languages.ts'
import { pageData } from './page-data.ts'
import { remember, remembered } from './storage.ts'

export const LANGUAGES: readonly { readonly value: Language; readonly text: string }[] = [
  { value: 'zh-Hant', text: '繁體' },
  { value: 'zh-Hans', text: '简体' },
  { value: 'ja', text: '日本語' },
  { value: 'en', text: 'English' },
]

const isLanguage = (text: string | null): text is Language => LANGUAGES.some(({ value }) => value === text)

/** The language requested by the URL or chosen by the reader. */
const asked = (): Language | undefined =>
  [new URLSearchParams(location.search).get('lang'), remembered('language')].find(isLanguage)

interface Offer {
  readonly language: Language
  readonly languages: readonly Language[]
}

/** The best of the offered languages for this browser. */
function suitable({ language: own, languages }: Offer): Language {
  return languageFor(navigator.languages, own, languages)
}

/** The languages that a reader can choose; always includes English. */
export const offered = signal(pageData().languages)

/** Applies the event's current languages, unless the reader has requested or chosen one. */
export function offerLanguages(offer: Offer): void {
  if (offer.languages.join() !== offered.peek().join()) offered.value = offer.languages
  const next = asked() ?? suitable(offer)
  if (next !== current.peek()) void loadWords(next)
}

const current = signal<Language>(asked() ?? suitable(pageData()))
/** The language of the page. It changes once its words are loaded. */
export const language: ReadonlySignal<Language> = current

effect(() => {
  document.documentElement.lang = current.value
})

/** Words: each language is loaded on demand. */
type WordFiles<W> = Readonly<Record<Language, () => Promise<{ readonly words: W }>>>

const loaders: ((language: Language) => Promise<() => void>)[] = []

/**
 * The words of a page in its language, as a signal: components that read them rerender when the language changes.
 * Available once `loadWords` has resolved.
 */
export function createWords<W>(files: WordFiles<W>): ReadonlySignal<W> {
  const loaded = signal<W | null>(null)
  loaders.push(async (next) => {
    const { words } = await files[next]()
    return () => (loaded.value = words)
  })
  return computed(() => loaded.value!)
}

/** Loads all words of the page in a language, and shows them together. */
export async function loadWords(next: Language = current.peek()): Promise<void> {
  const ready = await Promise.all(loaders.map((load) => load(next)))
  batch(() => {
    for (const show of ready) show()
    current.value = next
  })
}

/** The reader's own choice, stored on this device. */
export async function chooseLanguage(next: Language): Promise<void> {
  await loadWords(next)
  remember('language', next)
}

export const pageWords = createWords({
  'zh-Hant': () => import('#shared/locales/zh-hant/all-pages.ts'),
  'zh-Hans': () => import('#shared/locales/zh-hans/all-pages.ts'),
  ja: () => import('#shared/locales/ja/all-pages.ts'),
  en: () => import('#shared/locales/en/all-pages.ts'),
})
