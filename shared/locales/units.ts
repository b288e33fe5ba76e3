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

/** A figure of the whole event, as all languages here write it: `39,337`, and below a hundred `24.5`. */
export const figure = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 })
