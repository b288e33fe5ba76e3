/**
 * Check-ins and points of the last hour: the service's counts from before the page was opened, then the
 * stream's counts.
 */
import { signal } from '@preact/signals'
import type { Data, StreamEvents } from '#shared/client/index.ts'

/** Ten seconds of the event, as rates per minute. */
interface Rate {
  /** Start, epoch milliseconds. */
  readonly at: number
  readonly points: number
  readonly checkins: number
}

export const STEP_MS = 10_000
/** Time span of the chart. */
const SPAN_MS = 30 * 60_000
/** Time span that is stored. */
const HOUR_MS = 60 * 60_000
const A_MINUTE = 60_000 / STEP_MS

/** Complete and current steps, oldest first. A step without events is absent and counts as zero. */
export const rates = signal<readonly Rate[]>([])
/** Start of the counts; before that nothing is known. */
export const ratesSince = signal<number | null>(null)

export function clearRates(): void {
  rates.value = []
  ratesSince.value = null
}

export function addCounts({ at, points, checkins }: StreamEvents['counts']): void {
  const atMs = Date.parse(at)
  ratesSince.value ??= atMs
  const step = Math.floor(atMs / STEP_MS) * STEP_MS
  const kept = rates.value.filter((rate) => rate.at > atMs - HOUR_MS && rate.at !== step)
  const last = rates.value.find((rate) => rate.at === step)
  const sum = {
    at: step,
    points: (last?.points ?? 0) + points * A_MINUTE,
    checkins: (last?.checkins ?? 0) + checkins * A_MINUTE,
  }
  rates.value = [...kept, sum].sort((a, b) => a.at - b.at)
}

/**
 * Adds the service's own counts, which are complete for their time. Another replica may have started to count
 * later.
 */
export function addHistory({ since, through, steps }: NonNullable<Data<'readLastHour'>['received']>): void {
  const [sinceMs, throughMs] = [Date.parse(since), Date.parse(through)]
  const counted = steps.map(([points, checkins], i): Rate => ({
    at: sinceMs + i * STEP_MS,
    points: points * A_MINUTE,
    checkins: checkins * A_MINUTE,
  }))
  const others = rates.value.filter(({ at }) => (at < sinceMs && at > throughMs - HOUR_MS) || at >= throughMs)
  rates.value = [...others, ...counted].sort((a, b) => a.at - b.at)
  ratesSince.value = Math.min(sinceMs, ratesSince.value ?? Infinity)
}

// Values of the moving chart: observations, time window and ticks.

export type Series = 'checkins' | 'points'

export interface Value {
  readonly at: number
  readonly value: number
}

const MINUTE_MS = 60_000
/** Time windows and the distance of their ticks. The smallest window that shows all observations is used. */
const WINDOWS = [
  { spanMs: 5 * MINUTE_MS, tickMs: MINUTE_MS },
  { spanMs: 10 * MINUTE_MS, tickMs: 2 * MINUTE_MS },
  { spanMs: 15 * MINUTE_MS, tickMs: 5 * MINUTE_MS },
  { spanMs: SPAN_MS, tickMs: 5 * MINUTE_MS },
] as const

export const windowOf = (since: number, to: number) =>
  WINDOWS.find(({ spanMs }) => to - since <= spanMs) ?? WINDOWS.at(-1)!

/** Round times within a window, as shares of its width. Times at the edges would be cut off. */
export function ticksOf(to: number, { spanMs, tickMs }: (typeof WINDOWS)[number]) {
  const from = to - spanMs
  const ticks = []
  for (let at = Math.ceil(from / tickMs) * tickMs; at <= to; at += tickMs) {
    const share = (at - from) / spanMs
    if (share > 0.05 && share < 0.95) ticks.push({ at, share })
  }
  return ticks
}

const STEPS = MINUTE_MS / STEP_MS

/**
 * Counts of the minute before the end of each complete step, oldest first. A step without events is zero. In
 * the first minute the value is what was counted so far, so that an initial burst is not taken for a rate.
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

/** Values above this multiple of the usual are a burst, such as the start of the event. */
const BURST = 4

/**
 * A round maximum for an axis: above all values, except for a burst that ended in the first half of the
 * window, which would flatten the others.
 */
export function topOf(values: readonly Value[]): number {
  const sorted = values.map(({ value }) => value).sort((a, b) => a - b)
  const latest = Math.max(0, ...values.slice(values.length / 2).map(({ value }) => value))
  const usual = Math.max(latest, (sorted[Math.floor(sorted.length * 0.75)] ?? 0) * BURST)
  const [most = 0] = sorted.slice(-1)
  const top = usual > 0 ? Math.min(most, usual) : most
  const power = 10 ** Math.floor(Math.log10(Math.max(1, top)))
  return Math.max(10, Math.ceil(top / power) * power)
}
