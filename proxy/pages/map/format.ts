/** Figures, times and names as the reader's language writes them. */
import { words } from './words.ts'
import type { EventMap, EventRoute } from '#shared/client/index.ts'
import { language } from '../frame/language.ts'
import { figure, UNITS } from '#shared/locales/units.ts'
import { nowMs, route, timeZone } from './state.ts'
import { type PlaceOnRoute, stationsAround } from './stations-around.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Kilometres with their unit. */
export const kmText = (value: number): string => `${figure(value)} ${UNITS[language.value].km}`

const dayOf = (ms: number): string =>
  new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', timeZone: timeZone.value }).format(ms)

/** Time in the event's zone; with the day of the week when it is not today. */
export function clock(time: string | number): string {
  const ms = typeof time === 'number' ? time : Date.parse(time)
  const today = dayOf(ms) === dayOf(nowMs.value)
  return new Intl.DateTimeFormat(language.value, {
    ...(today ? {} : { weekday: 'short', month: 'numeric', day: 'numeric' }),
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: timeZone.value,
  }).format(ms)
}

export const date = (time: string): string =>
  new Intl.DateTimeFormat(language.value, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: timeZone.value,
  }).format(Date.parse(time))

const hourOf = (ms: number): number =>
  Number(
    new Intl.DateTimeFormat('en', { hour: 'numeric', hourCycle: 'h23', timeZone: timeZone.value }).format(ms),
  )

/** An estimate is told in steps that grow with its distance in time. */
const STEPS = [
  { withinMs: HOUR_MS, stepMs: 5 * MINUTE_MS },
  { withinMs: 3 * HOUR_MS, stepMs: 10 * MINUTE_MS },
  { withinMs: Infinity, stepMs: 30 * MINUTE_MS },
] as const
/** Further ahead, the mean of the walk tells no hour, but a part of the day. */
const HOURS_WITHIN_MS = 8 * HOUR_MS
/** Hours from which night, morning, afternoon and evening begin. */
const PARTS_FROM = [0, 5, 12, 18] as const

/** When somebody arrives, as exactly as it is known: `about 14:10`, `18–20 h`, `tomorrow morning`, or the planned time. */
export function arrivalText(at: string, by: EventMap['estimates'][number]['by']): string {
  const ms = Date.parse(at)
  const awayMs = ms - nowMs.value
  if (by === 'plan') return words.value.planned(clock(at))
  if (by === 'speed') {
    const { stepMs } = STEPS.find(({ withinMs }) => awayMs <= withinMs)!
    return words.value.about(clock(Math.round(ms / stepMs) * stepMs))
  }
  const days = Math.round((Date.parse(dayOf(ms)) - Date.parse(dayOf(nowMs.value))) / DAY_MS)
  if (awayMs <= HOURS_WITHIN_MS) {
    const hours = words.value.hours(hourOf(ms), (hourOf(ms) + 2) % 24)
    return days === 0 ? hours : words.value.partOfDay(words.value.days[days]!, hours)
  }
  const weekday = new Intl.DateTimeFormat(language.value, {
    weekday: 'long',
    timeZone: timeZone.value,
  }).format(ms)
  const part = PARTS_FROM.findLastIndex((from) => hourOf(ms) >= from)
  return words.value.partOfDay(words.value.days[days] ?? weekday, words.value.parts[part]!)
}

export const stationName = ({ name, names }: EventRoute['stations'][number]): string =>
  names[language.value] ?? name

/** Where a place of the route is: near a station, or between two. Null without stations. */
export function whereText(place: PlaceOnRoute): string | null {
  const around = stationsAround(place, route.value?.stations ?? [])
  if (around === null) return null
  const [from, to] = around
  return to === undefined
    ? words.value.near(stationName(from))
    : words.value.between(stationName(from), stationName(to))
}
