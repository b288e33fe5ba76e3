/** Everything that a card shows. Equal facts give the same picture. */
import type { Language } from '#shared/contracts/bot.ts'
import { serviceWords } from '#shared/locales/by-language.ts'
import type { ShareWords } from '#shared/locales/words.ts'
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
  /** The language of its texts. */
  readonly language: Language
  /** In a language that is not built in; `level` with its number. */
  readonly words?: Omit<Words, 'level'> & { readonly level: string }
  /** Replaces a name that is not shown, or that the fonts cannot write. */
  readonly pilgrimWord: string
  readonly level: Level
  /** In the card's language. */
  readonly levelName: string
  /** Kilometres, as shown to others (`pilgrims/profile.ts`). */
  readonly km: number
  readonly isAtLeast?: true
  readonly checkins: number
  /** Kilograms, as shown to others. */
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

/** The word for a pilgrim in a language; English if it is not listed. @param tag BCP 47 */
export const pilgrimWord = (tag: string): string =>
  PILGRIM.get(tag.toLowerCase().split(/[-_]/)[0]!) ?? PILGRIM.get('en')!

const builtIn = serviceWords({})

type Words = ShareWords['card']

export const cardWords = ({ language, words }: Pick<CardFacts, 'language' | 'words'>): Words =>
  words === undefined ? builtIn(language).share.card : { ...words, level: () => words.level }
