/** Units of measure in each language. */
import type { BuiltInLanguage, Language } from '#shared/contracts/bot.ts'

export interface Units {
  readonly km: string
  readonly m: string
  readonly kmh: string
  readonly kg: string
  readonly g: string
}

export const UNITS: Readonly<Record<BuiltInLanguage, Units>> = {
  'zh-Hant': { km: '公里', m: '公尺', kmh: '公里／小時', kg: '公斤', g: '公克' },
  'zh-Hans': { km: '公里', m: '米', kmh: '公里／小时', kg: '公斤', g: '克' },
  en: { km: 'km', m: 'm', kmh: 'km/h', kg: 'kg', g: 'g' },
  ja: { km: 'km', m: 'm', kmh: 'km/h', kg: 'kg', g: 'g' },
}

/** Those of English where a language has none of its own. */
export const unitsOf = (language: Language): Units =>
  (UNITS as Partial<Readonly<Record<Language, Units>>>)[language] ?? UNITS.en

const [WHOLE, TENTHS] = [0, 1].map((digits) => new Intl.NumberFormat('en', { maximumFractionDigits: digits }))
/** 0.29 × 10 is 2.9000000000000004, and 4.1 × 10 less than 41. */
const ROUNDING_ERROR = 1e-6

const hasTenths = (value: number): boolean => Math.abs(value) < 10

/**
 * Formats a number for every page, card and message: one decimal below ten, none from ten: `9.4`, `76`,
 * `39,337`. It is rounded down, so that no distance is shown before it is walked. All languages here use the
 * same digits.
 */
export function figure(value: number): string {
  if (!hasTenths(value)) return WHOLE!.format(Math.trunc(value + Math.sign(value) * ROUNDING_ERROR))
  // A credit of almost nothing is 0, not -0.
  return TENTHS!.format(Math.trunc(value * 10 + Math.sign(value) * ROUNDING_ERROR) / 10 + 0)
}

/** Kilometres for a card or a link. @param walked `isAtLeast`: the exact distance may be longer */
export const publicKmText = (walked: { readonly km: number; readonly isAtLeast?: true }): string =>
  `${figure(walked.km)}${walked.isAtLeast ? '+' : ''}`

/** A large number in the language's compact form: `1.2K`, `1.2萬`. */
export const compactFormat = (language: Language): Intl.NumberFormat =>
  new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 })

/**
 * The kilometres still missing, rounded so that together with the displayed kilometres they add up to the
 * goal.
 */
export function kmToGo(km: number, walked: number): string {
  if (!hasTenths(walked)) return WHOLE!.format(Math.ceil(km - ROUNDING_ERROR))
  return TENTHS!.format(Math.ceil(km * 10 - ROUNDING_ERROR) / 10)
}

/** An amount of carbon: in grams below a kilogram, so that small amounts do not appear as zero. */
export function carbonIn(language: Language, kg: number): { readonly figure: string; readonly unit: string } {
  const isSmall = kg !== 0 && Math.abs(kg) < 1
  return { figure: figure(isSmall ? kg * 1_000 : kg), unit: unitsOf(language)[isSmall ? 'g' : 'kg'] }
}
