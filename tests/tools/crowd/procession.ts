/** The procession's schedule. People join it, wait for it and catch up with it. */
import type { Way } from './way.ts'

export const HOUR_S = 3_600
export const DAY_S = 24 * HOUR_S

/** Number of days of the way out, at the turning point, and back. */
const THERE_DAYS = 4
const REST_DAYS = 1
const BACK_DAYS = 3

/** The end of the whole walk, seconds since the departure at midnight. */
export const WALK_S = (THERE_DAYS + REST_DAYS + BACK_DAYS) * DAY_S

/** The procession rests from 21 to 4 o'clock. */
const FROM_HOUR = 4
const TO_HOUR = 21

/** Share of a day's way that is done by an hour of the day. */
const doneBy = (hour: number): number => Math.min(Math.max((hour - FROM_HOUR) / (TO_HOUR - FROM_HOUR), 0), 1)

/** Kilometre of the procession at a time. */
export function processionKm(atS: number, way: Way): number {
  const day = Math.floor(atS / DAY_S)
  const days = day + doneBy((atS - day * DAY_S) / HOUR_S)
  if (days <= THERE_DAYS) return Math.max(0, days / THERE_DAYS) * way.turnKm
  const backDays = Math.max(0, days - THERE_DAYS - REST_DAYS)
  return way.turnKm + Math.min(1, backDays / BACK_DAYS) * (way.lengthKm - way.turnKm)
}

/** The time when the procession passes a kilometre. */
export function passesAtS(km: number, way: Way): number {
  let [low, high] = [0, WALK_S]
  while (high - low > 30) {
    const middle = (low + high) / 2
    if (processionKm(middle, way) < km) low = middle
    else high = middle
  }
  return Math.round(high)
}

/** The hour of the day, 0 to 24. */
export const hourOf = (atS: number): number => (((atS % DAY_S) + DAY_S) % DAY_S) / HOUR_S
