/** Everything that a card shows. Two cards of equal facts are the same picture. */
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
  /** Kilometres, as shown everywhere. */
  readonly km: number
  readonly checkins: number
  /** Kilograms, as shown everywhere. */
  readonly carbonSavedKg: number
  /** Between this level and the next, 0 to 1. */
  readonly progress: number
  readonly kmNeeded: number
  readonly checkinsNeeded: number
  readonly unlocked: boolean
}

const PILGRIM: Readonly<Record<string, string>> = {
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
}

/** The word for a pilgrim in their language; 香客 where it is not known. */
export const pilgrimWord = (language: string | null): string =>
  PILGRIM[(language ?? '').toLowerCase().split(/[-_]/)[0]!] ?? '香客'
