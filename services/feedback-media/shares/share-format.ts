/** Words, numbers and times of a page of a link in one language. */
import type { Language } from '#shared/contracts/bot.ts'
import { levelName } from '#shared/locales/by-language.ts'
import type { ShareWords } from '#shared/locales/words.ts'
import { SHARE_WORDS } from '#shared/locales/by-language.ts'
import type { Station } from '#shared/core/map/walking-route.ts'
import type { Level } from '#shared/core/rules/levels.ts'

export interface ShareTexts {
  readonly language: Language
  readonly words: ShareWords
  readonly event: string
  /** The pilgrim's name, or the word for one. */
  readonly name: string
  readonly nowMs: number
  /** Time of day; with the day when it is not today's. */
  clock(ms: number): string
  /** How long ago, in words. */
  ago(ms: number): string
  level(level: Level): string
  station(station: Station): string
}

const MINUTE_MS = 60_000
const HOUR_MIN = 60
const DAY_MIN = 24 * HOUR_MIN

export function shareTexts(
  language: Language,
  {
    event,
    name,
    timeZone,
    nowMs,
  }: {
    readonly event: string
    readonly name: string | null
    readonly timeZone: string
    readonly nowMs: number
  },
): ShareTexts {
  const words = SHARE_WORDS[language]
  const hour = new Intl.DateTimeFormat(language, {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  const day = new Intl.DateTimeFormat(language, {
    timeZone,
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  const dayOf = new Intl.DateTimeFormat('en-CA', { timeZone })
  return {
    language,
    words,
    event,
    name: name ?? words.somebody,
    nowMs,
    clock: (ms) => (dayOf.format(ms) === dayOf.format(nowMs) ? hour : day).format(ms),
    ago(ms) {
      const minutes = Math.max(0, Math.floor(ms / MINUTE_MS))
      if (minutes < HOUR_MIN) return words.minutes(minutes)
      if (minutes < DAY_MIN) return words.hours(Math.floor(minutes / HOUR_MIN), minutes % HOUR_MIN)
      return words.days(Math.floor(minutes / DAY_MIN))
    },
    level: ({ level }) => levelName(level, language),
    station: ({ name: own, names }) => names[language] ?? (language === 'en' ? (names.en ?? own) : own),
  }
}
