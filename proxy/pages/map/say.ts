/** Figures, times and names as the reader's language writes them. */
import type { EventRoute } from '#shared/client/index.ts'
import type { MapWords } from '#shared/locales/words.ts'
import { language } from '../frame/language.ts'
import { UNITS } from '#shared/locales/units.ts'
import { nowMs, route, timeZone } from './state.ts'
import { type PlaceOnRoute, stationsAround } from './stations-around.ts'

export const figure = (value: number, digits = 0): string =>
  new Intl.NumberFormat(language.value, {
    maximumFractionDigits: digits,
    minimumFractionDigits: digits,
  }).format(value)

/** Kilometres: one decimal below 100. */
export const km = (value: number): string => figure(value, value < 100 ? 1 : 0)

/** Kilometres with their unit. */
export const kmText = (value: number): string => `${km(value)} ${UNITS[language.value].km}`

const dayOf = (ms: number): string =>
  new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', timeZone: timeZone.value }).format(ms)

/** Time in the event's zone; with the day of the week when it is not today. */
export function clock(time: string): string {
  const ms = Date.parse(time)
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

export const stationName = ({ name, names }: EventRoute['stations'][number]): string =>
  names[language.value] ?? name

/** Where a place of the route is: near a station, or between two. Null without stations. */
export function whereText(place: PlaceOnRoute, words: MapWords): string | null {
  const around = stationsAround(place, route.value?.stations ?? [])
  if (around === null) return null
  const [from, to] = around
  return to === undefined ? words.near(stationName(from)) : words.between(stationName(from), stationName(to))
}
