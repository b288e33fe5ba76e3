/** An amount of carbon as every page writes it. */
import type { Language } from '#shared/contracts/bot.ts'
import { UNITS } from './units.ts'

/** Figure and unit: grams below a kilogram, so that what is little is not nothing. */
export function carbonIn(language: Language, kg: number): { readonly figure: string; readonly unit: string } {
  const grams = Math.abs(kg) * 1_000
  const isSmall = grams > 0 && Math.round(grams) < 1_000
  const value = isSmall ? kg * 1_000 : kg
  const size = Math.abs(value)
  const digits = isSmall ? (size < 1 ? 1 : 0) : size < 10 ? 2 : size < 100 ? 1 : 0
  return {
    figure: new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(value),
    unit: UNITS[language][isSmall ? 'g' : 'kg'],
  }
}
