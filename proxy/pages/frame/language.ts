/** The reader's language, asked for by `?lang=`, chosen earlier, or the browser's; and the words in it. */
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

/** What the address or the reader has asked for. */
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

/** The languages that a reader can choose: English is always among them. */
export const offered = signal(pageData().languages)

/** Applies the event's languages as they are now, unless the reader has asked for one or chosen one. */
export function offerLanguages(offer: Offer): void {
  if (offer.languages.join() !== offered.peek().join()) offered.value = offer.languages
  const next = asked() ?? suitable(offer)
  if (next !== current.peek()) void loadWords(next)
}

const current = signal<Language>(asked() ?? suitable(pageData()))
/** The language of the page. It changes when its words have arrived. */
export const language: ReadonlySignal<Language> = current

effect(() => {
  document.documentElement.lang = current.value
})

/** Words: each language is loaded when it is needed. */
type WordFiles<W> = Readonly<Record<Language, () => Promise<{ readonly words: W }>>>

const loaders: ((language: Language) => Promise<() => void>)[] = []

/**
 * The words of a page in its language, as a signal: a component that reads them is drawn again when the language
 * changes. They are there once `loadWords` has ended.
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

/** The reader's own choice, kept on this device. */
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
