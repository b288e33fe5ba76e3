/** The units of measure as each language writes them. */
import type { Language } from '#shared/contracts/bot.ts'

export interface Units {
  readonly km: string
  readonly m: string
  readonly kmh: string
  readonly kg: string
  readonly g: string
}

export const UNITS: Readonly<Record<Language, Units>> = {
  'zh-Hant': { km: '公里', m: '公尺', kmh: '公里／小時', kg: '公斤', g: '公克' },
  'zh-Hans': { km: '公里', m: '米', kmh: '公里／小时', kg: '公斤', g: '克' },
  en: { km: 'km', m: 'm', kmh: 'km/h', kg: 'kg', g: 'g' },
  ja: { km: 'km', m: 'm', kmh: 'km/h', kg: 'kg', g: 'g' },
}

/** Where one decimal ends, rounded: 9.96 is 10. */
const DECIMAL_BELOW = 9.95
const FORMATS = [0, 1].map((digits) => new Intl.NumberFormat('en', { maximumFractionDigits: digits }))

/**
 * A number as every page, card and message writes it: below ten one decimal, then none: `9.4`, `76`, `39,337`.
 * The languages here write digits alike.
 */
export const figure = (value: number): string =>
  FORMATS[Math.abs(value) < DECIMAL_BELOW ? 1 : 0]!.format(value)

/** Kilometres that are missing: never 0 while some are. */
export const kmToGo = (km: number): string => figure(km > 0 ? Math.max(0.1, km) : 0)

/** An amount of carbon: grams below a kilogram, so that what is little is not nothing. */
export function carbonIn(language: Language, kg: number): { readonly figure: string; readonly unit: string } {
  const isSmall = kg !== 0 && Math.round(Math.abs(kg) * 1_000) < 1_000
  return { figure: figure(isSmall ? kg * 1_000 : kg), unit: UNITS[language][isSmall ? 'g' : 'kg'] }
}
