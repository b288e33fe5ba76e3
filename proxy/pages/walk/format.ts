/** Times and numbers as shown to the pilgrim, in the event's time zone. */
import { language } from '../frame/language.ts'
import { carbonIn, figure, unitsOf, type Units } from '#shared/locales/units.ts'
import type { WalkWords } from '#shared/locales/words.ts'
import { ROUGH_M } from '#shared/core/rules/geo.ts'
import { pageData } from '../frame/page-data.ts'

const { timeZone } = pageData()

export const timeText = (ms: number): string =>
  new Intl.DateTimeFormat(language.value, {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone,
  }).format(ms)

export const dateText = (ms: number): string =>
  new Intl.DateTimeFormat(language.value, { dateStyle: 'long', timeZone }).format(ms)

/** Adds the day to a time of another day. */
export function whenText(ms: number, nowMs: number): string {
  const day = new Intl.DateTimeFormat(language.value, { month: 'short', day: 'numeric', timeZone })
  return day.format(ms) === day.format(nowMs) ? timeText(ms) : `${day.format(ms)} ${timeText(ms)}`
}

/** A day `YYYY-MM-DD`. */
export const dayText = (day: string): string =>
  new Intl.DateTimeFormat(language.value, {
    month: 'short',
    day: 'numeric',
    weekday: 'short',
    timeZone: 'UTC',
  }).format(Date.parse(`${day}T00:00:00Z`))

const withUnit = (text: string, unit: keyof Units): string => `${text}\u00a0${unitText(unit)}`

/** A unit in the reader's language. */
export const unitText = (unit: keyof Units): string => unitsOf(language.value)[unit]

/** Carbon in kilograms, with its unit. */
export function carbonText(kg: number): string {
  const carbon = carbonIn(language.value, kg)
  return `${carbon.figure}\u00a0${carbon.unit}`
}

/** A distance in metres as text: rounded to 100 m below one kilometre, to 0.1 km above. */
export const distanceText = (metres: number): string =>
  metres < 950
    ? withUnit(figure(Math.max(1, Math.round(metres / 100)) * 100), 'm')
    : withUnit(figure(metres / 1_000), 'km')

export const minutesOf = (ms: number): number => Math.max(1, Math.round(ms / 60_000))

const GOOD_M = 20

/** The accuracy of a position as text; null if it is good. @param metres its accuracy; null: unknown */
export function roughText({ checkIn }: Pick<WalkWords, 'checkIn'>, metres: number | null): string | null {
  if (metres === null || metres <= GOOD_M) return null
  return metres < ROUGH_M ? checkIn.fair(metres) : checkIn.poor(metres)
}
