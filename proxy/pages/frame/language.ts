/** The reader's language: asked for by `?lang=`, or chosen earlier, or the browser's. */
import { effect, type ReadonlySignal, signal } from '@preact/signals'
import type { Language } from '#shared/contracts/bot.ts'
import { supportedLanguage } from '#shared/rules/languages.ts'
import { remember, remembered } from './storage.ts'

export const LANGUAGES: readonly { readonly value: Language; readonly text: string }[] = [
  { value: 'zh-Hant', text: '繁體' },
  { value: 'zh-Hans', text: '简体' },
  { value: 'ja', text: '日本語' },
  { value: 'en', text: 'English' },
]

const isLanguage = (text: string | null): text is Language => LANGUAGES.some(({ value }) => value === text)

function firstLanguage(): Language {
  const asked = new URLSearchParams(location.search).get('lang')
  if (isLanguage(asked)) return asked
  const chosen = remembered('language')
  if (isLanguage(chosen)) return chosen
  for (const tag of navigator.languages) {
    const supported = supportedLanguage(tag)
    if (supported !== null) return supported
  }
  return 'zh-Hant'
}

const current = signal<Language>(firstLanguage())
/** The language of the page. It changes when its words have arrived. */
export const language: ReadonlySignal<Language> = current

effect(() => {
  document.documentElement.lang = current.value
})

/** Words of a page: each language is loaded when it is needed. */
export type WordFiles<W> = Readonly<Record<Language, () => Promise<{ readonly words: W }>>>

/**
 * Loads a page's words in the current language.
 * @returns the words as a signal, and what changes the language of the page
 */
export async function loadWords<W>(files: WordFiles<W>): Promise<{
  readonly words: ReadonlySignal<W>
  readonly choose: (next: Language) => void
}> {
  const words = signal<W>((await files[current.value]()).words)
  return {
    words,
    choose(next) {
      void (async () => {
        const loaded = await files[next]()
        words.value = loaded.words
        current.value = next
        remember('language', next)
      })()
    },
  }
}
