/** Formats figures, times and names in the reader's language. */
import { words } from './words.ts'
import type { EventMap, EventRoute } from '#shared/client/index.ts'
import { language } from '../frame/language.ts'
import { figure, unitsOf } from '#shared/locales/units.ts'
import { nowMs, route, timeZone } from './state.ts'
import { type PlaceOnRoute, stationsAround } from './stations-around.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export const kmText = (value: number): string => `${figure(value)} ${unitsOf(language.value).km}`

const dayOf = (ms: number): string =>
  new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', timeZone: timeZone.value }).format(ms)

/** Time in the event's zone, with the day of the week if it is not today. */
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

/** Within this time an arrival by pace is shown as a time, and one by the mean of the walk as two hours around it. */
const TIME_WITHIN_MS = 5 * HOUR_MS
/** Hours at which night, morning, afternoon and evening begin. */
const PARTS_FROM = [0, 5, 12, 18] as const

/**
 * An arrival, as precise as it is known: `about 14:10`, `18:00–20:00`, the planned time, or the part of a distant day
 * by the mean of the walk.
 */
export function arrivalText(at: string, by: EventMap['estimates'][number]['by']): string {
  const ms = Date.parse(at)
  if (by === 'plan') return words.value.planned(clock(at))
  const bySpeed = by === 'speed'
  const isSoon = ms - nowMs.value <= TIME_WITHIN_MS
  if (bySpeed && isSoon) return words.value.about(clock(ms))
  const isSpan = bySpeed || isSoon
  // An arrival is never in the past.
  const fromMs = isSpan ? Math.max(ms - HOUR_MS / 2, nowMs.value) : ms
  const days = Math.round((Date.parse(dayOf(fromMs)) - Date.parse(dayOf(nowMs.value))) / DAY_MS)
  const hour = hourOf(fromMs)
  const when = isSpan
    ? words.value.hours(hour, (hour + 2) % 24)
    : words.value.parts[PARTS_FROM.findLastIndex((from) => hour >= from)]!
  if (isSpan && days === 0) return when
  const weekday = new Intl.DateTimeFormat(language.value, {
    weekday: 'long',
    timeZone: timeZone.value,
  }).format(fromMs)
  return words.value.partOfDay(words.value.days[days] ?? weekday, when)
}

export const stationName = ({ name, names }: EventRoute['stations'][number]): string =>
  names[language.value] ?? name

/** Description of a place on the route: near a station, or between two. Null without stations. */
export function whereText(place: PlaceOnRoute): string | null {
  const around = stationsAround(place, route.value?.stations ?? [])
  if (around === null) return null
  const [from, to] = around
  return to === undefined
    ? words.value.near(stationName(from))
    : words.value.between(stationName(from), stationName(to))
}
