/** The words of the console: operators read traditional Chinese or English. */
import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { ConsoleWords } from '#shared/locales/words.ts'
import { language, type WordFiles } from '../frame/language.ts'

export type { ConsoleWords } from '#shared/locales/words.ts'

const traditional = () => import('#shared/locales/zh-hant/console.ts')
const english = () => import('#shared/locales/en/console.ts')

export const WORD_FILES: WordFiles<ConsoleWords> = {
  'zh-Hant': traditional,
  'zh-Hans': traditional,
  en: english,
  ja: english,
}

const started = signal<ReadonlySignal<ConsoleWords> | null>(null)

/** Called once, before anything is drawn. */
export const setWords = (words: ReadonlySignal<ConsoleWords>): void => {
  started.value = words
}

/** The words of the chosen language. A component that reads them is drawn again when the language changes. */
export const words = computed(() => started.value!.value)

type ConsoleLanguage = 'zh-Hant' | 'en'

export const consoleLanguage = computed<ConsoleLanguage>(() =>
  language.value.startsWith('zh') ? 'zh-Hant' : 'en',
)

/** A language as its readers call it. */
export const ownName = (language: string): string =>
  new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language
