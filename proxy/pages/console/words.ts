/** Texts of the console: operators read traditional Chinese or English. */
import { computed } from '@preact/signals'
import { figure, UNITS } from '#shared/locales/units.ts'
import type { ConsoleWords } from '#shared/locales/words.ts'
import { createWords, language, pageWords } from '../frame/language.ts'

export type { ConsoleWords } from '#shared/locales/words.ts'

const traditional = () => import('#shared/locales/zh-hant/console.ts')
const english = () => import('#shared/locales/en/console.ts')

export const words = createWords<ConsoleWords>('console', {
  'zh-Hant': traditional,
  'zh-Hans': traditional,
  en: english,
  ja: english,
})

type ConsoleLanguage = 'zh-Hant' | 'en'

export const consoleLanguage = computed<ConsoleLanguage>(() =>
  language.value.startsWith('zh') ? 'zh-Hant' : 'en',
)

export const units = computed(() => UNITS[consoleLanguage.value])
export const inKm = (km: number): string => `${figure(km)} ${units.value.km}`
export const inKg = (kg: number): string => `${figure(kg)} ${units.value.kg}`

/** `Status: Active` */
export const pair = (name: string, text: string | number): string => pageWords.value.pair(name, String(text))

/** Translates a value; a newer release may have more values. */
export const nameOf = (names: Readonly<Record<string, string>>, value: string): string =>
  Object.hasOwn(names, value) ? names[value]! : value

/** The name of a language in that language. */
export const ownName = (language: string): string =>
  new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language
