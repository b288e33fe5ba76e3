/** Everything that a card shows. Equal facts give the same picture. */
import type { Level } from '#shared/rules/levels.ts'

/** A place on the walked track. */
export interface Fix {
  readonly lat: number
  readonly lng: number
}

export interface CardFacts {
  readonly eventName: string
  readonly displayName: string | null
  /** BCP 47; chooses the word for a pilgrim whose name cannot be set. */
  readonly language: string | null
  readonly level: Level
  readonly next: Level | null
  /** Kilometres, rounded as in all answers. */
  readonly km: number
  readonly checkins: number
  /** Kilograms, rounded as in all answers. */
  readonly carbonSavedKg: number
  /** Progress to the next level, 0 to 1. */
  readonly progress: number
  readonly kmNeeded: number
  readonly checkinsNeeded: number
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
