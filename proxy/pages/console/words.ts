/** The words of the console: operators read traditional Chinese or English. */
import { computed } from '@preact/signals'
import { figure, UNITS } from '#shared/locales/units.ts'
import type { ConsoleWords } from '#shared/locales/words.ts'
import { createWords, language, pageWords } from '../frame/language.ts'

export type { ConsoleWords } from '#shared/locales/words.ts'

const traditional = () => import('#shared/locales/zh-hant/console.ts')
const english = () => import('#shared/locales/en/console.ts')

export const words = createWords<ConsoleWords>({
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

/** A value's name among words; a new release may know more values. */
export const nameOf = (names: Readonly<Record<string, string>>, value: string): string =>
  Object.hasOwn(names, value) ? names[value]! : value

/** A language as its readers call it. */
export const ownName = (language: string): string =>
  new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language
