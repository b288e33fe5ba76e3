/** Everything that a card shows. Equal facts give the same picture. */
import type { Language } from '#shared/contracts/bot.ts'
import { SHARE_WORDS } from '#shared/locales/by-language.ts'
import type { ShareWords } from '#shared/locales/words.ts'
import { supportedLanguage } from '#shared/core/rules/languages.ts'
import type { Level } from '#shared/core/rules/levels.ts'

export interface Place {
  readonly lat: number
  readonly lng: number
}

/** The event's route as a card shows it. */
export interface CardRoute {
  readonly lines: readonly (readonly Place[])[]
  /** The part between stations that the pilgrim passed. */
  readonly passed: readonly (readonly Place[])[]
  readonly stations: readonly (Place & { readonly isPassed: boolean })[]
}

export interface CardFacts {
  readonly eventName: string
  /** The event's days; null: not known. */
  readonly eventDays: string | null
  readonly displayName: string | null
  /** BCP 47; the card is in this language, or in English where it has no words in it. */
  readonly language: string | null
  readonly level: Level
  /** Kilometres, as everybody may read them (`pilgrims/profile.ts`). */
  readonly km: number
  readonly checkins: number
  /** Kilograms, as everybody may read them. */
  readonly carbonSavedKg: number
  readonly unlocked: boolean
}

/** A map, because pilgrims write the key: an object would also answer to `constructor`. */
const PILGRIM: ReadonlyMap<string, string> = new Map(
  Object.entries({
    zh: '香客',
    ja: '巡礼者',
    ko: '순례자',
    th: 'ผู้จาริกแสวงบุญ',
    vi: 'Khách hành hương',
    en: 'Pilgrim',
    id: 'Peziarah',
    es: 'Peregrino',
    fr: 'Pèlerin',
    de: 'Pilger',
  }),
)

/** The word for a pilgrim in their language; 香客 where the language is unknown. */
export const pilgrimWord = (language: string | null): string =>
  PILGRIM.get((language ?? '').toLowerCase().split(/[-_]/)[0]!) ?? '香客'

export const cardLanguage = (language: string | null): Language =>
  language === null ? 'zh-Hant' : (supportedLanguage(language) ?? 'en')

export const cardWords = (language: string | null): ShareWords['card'] =>
  SHARE_WORDS[cardLanguage(language)].card
