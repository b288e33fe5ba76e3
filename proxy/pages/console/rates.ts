/**
 * Check-ins and points of the last hour: what the service has counted since before the page was opened, and the counts
 * of the stream since then.
 */
import { signal } from '@preact/signals'
import type { Data, StreamEvents } from '#shared/client/index.ts'

/** Ten seconds of the event, as rates a minute. */
export interface Rate {
  /** Start, epoch milliseconds. */
  readonly at: number
  readonly points: number
  readonly checkins: number
}

export const STEP_MS = 10_000
/** What the chart shows. */
export const SPAN_MS = 30 * 60_000
/** What is held. */
export const HOUR_MS = 60 * 60_000
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

/** Check-ins of the last 60 minutes, or since counting began. Null until counting began. */
export function lastHour(nowMs: number): { readonly checkins: number; readonly since: number } | null {
  const observed = ratesSince.value
  if (observed === null) return null
  const since = Math.max(observed, nowMs - HOUR_MS)
  const from = Math.floor(since / STEP_MS) * STEP_MS
  const sum = rates.value.reduce((total, { at, checkins }) => total + (at >= from ? checkins : 0), 0)
  return { checkins: Math.round(sum / A_MINUTE), since }
}
