/**
 * Check-ins and points of the last hour: what the service has counted since before the page was opened, and the counts
 * of the stream since then.
 */
import { signal } from '@preact/signals'
import type { Data, StreamEvents } from '#shared/client/index.ts'

/** Ten seconds of the event, as rates a minute. */
interface Rate {
  /** Start, epoch milliseconds. */
  readonly at: number
  readonly points: number
  readonly checkins: number
}

export const STEP_MS = 10_000
/** What the chart shows. */
const SPAN_MS = 30 * 60_000
/** What is held. */
const HOUR_MS = 60 * 60_000
const A_MINUTE = 60_000 / STEP_MS

/** Complete and current steps, oldest first. A step without events is absent, and is a zero. */
export const rates = signal<readonly Rate[]>([])
/** Since when there are counts; before that nothing is known. */
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

/** Takes the service's own counts, which are complete for their time. Another replica may have begun to count later. */
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

// Values of the moving chart: what was observed, its time window and its ticks.

export type Series = 'checkins' | 'points'

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

/** Values beyond so many times what is usual are a burst, such as the start of the event. */
const BURST = 4

/**
 * A round figure for the top of an axis: above all values, but for a burst that has ended in the first half of what is
 * shown, which would make the others a flat line.
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
