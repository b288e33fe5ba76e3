/** Values of the moving chart: what was observed, its time window and its ticks. */
import { type Rate, SPAN_MS, STEP_MS } from '../../rates.ts'

export type Series = 'checkins' | 'points'

/** A step of the chart: its start and the rate a minute. */
export interface Value {
  readonly at: number
  readonly value: number
}

const MINUTE_MS = 60_000
/** Windows, and how far apart their times are written. The smallest one that shows everything observed is taken. */
const WINDOWS = [
  { spanMs: 5 * MINUTE_MS, tickMs: MINUTE_MS },
  { spanMs: 10 * MINUTE_MS, tickMs: 2 * MINUTE_MS },
  { spanMs: 15 * MINUTE_MS, tickMs: 5 * MINUTE_MS },
  { spanMs: SPAN_MS, tickMs: 5 * MINUTE_MS },
] as const

export const windowOf = (since: number, to: number) =>
  WINDOWS.find(({ spanMs }) => to - since <= spanMs) ?? WINDOWS.at(-1)!

/** Round times within a window, as shares of its width. Those at its edges would be cut. */
export function ticksOf(to: number, { spanMs, tickMs }: (typeof WINDOWS)[number]) {
  const from = to - spanMs
  const ticks = []
  for (let at = Math.ceil(from / tickMs) * tickMs; at <= to; at += tickMs) {
    const share = (at - from) / spanMs
    if (share > 0.05 && share < 0.95) ticks.push({ at, share })
  }
  return ticks
}

/** Steps of a minute. */
const STEPS = MINUTE_MS / STEP_MS

/**
 * What was counted in the minute before the end of each complete step, oldest first. A step without events is a zero.
 * In the first minute of counting it is what was counted so far: a burst at the start is not taken for a rate.
 */
export function valuesOf(rates: readonly Rate[], series: Series, since: number, to: number): Value[] {
  const known = new Map(rates.map((rate) => [rate.at, rate[series]]))
  const values = []
  const first = Math.ceil(Math.max(since, to - SPAN_MS) / STEP_MS) * STEP_MS
  for (let at = first; at + STEP_MS <= to; at += STEP_MS) {
    let sum = 0
    for (let i = 0; i < STEPS; i++) sum += known.get(at - i * STEP_MS) ?? 0
    values.push({ at, value: Math.round(sum / STEPS) })
  }
  return values
}

/** The last value of the charts, which the tiles show as well. Null until a step was observed. */
export function lastMinute(
  rates: readonly Rate[],
  since: number,
  to: number,
): { readonly checkins: number; readonly points: number } | null {
  const last = (series: Series) =>
    valuesOf(rates, series, Math.max(since, to - 3 * MINUTE_MS), to).at(-1)?.value
  const [checkins, points] = [last('checkins'), last('points')]
  return checkins === undefined || points === undefined ? null : { checkins, points }
}

/** What was counted in each minute that is over, newest first. The oldest may have been counted in part only. */
export function minutesOf(rates: readonly Rate[], since: number, to: number) {
  const minutes = []
  const oldest = Math.floor(Math.max(since, to - SPAN_MS) / MINUTE_MS) * MINUTE_MS
  for (let at = Math.floor(to / MINUTE_MS) * MINUTE_MS - MINUTE_MS; at >= oldest; at -= MINUTE_MS) {
    const within = rates.filter((rate) => rate.at >= at && rate.at < at + MINUTE_MS)
    const sum = (series: Series) =>
      Math.round(within.reduce((total, rate) => total + rate[series], 0) / STEPS)
    minutes.push({ at, checkins: sum('checkins'), points: sum('points') })
  }
  return minutes
}

/** A round figure at or above a value, for the top of an axis. */
export const roundUp = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)))
  return Math.max(10, Math.ceil(value / power) * power)
}
