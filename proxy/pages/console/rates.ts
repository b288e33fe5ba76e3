/** Check-ins and points a minute over the last half hour, from the counts of the stream. */
import { signal } from '@preact/signals'
import type { StreamEvents } from '#shared/client/index.ts'

/** Ten seconds of the event, as rates a minute. */
export interface Rate {
  /** Start, epoch milliseconds. */
  readonly at: number
  readonly points: number
  readonly checkins: number
}

export const STEP_MS = 10_000
export const SPAN_MS = 30 * 60_000
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
  const kept = rates.value.filter((rate) => rate.at > atMs - SPAN_MS && rate.at !== step)
  const last = rates.value.find((rate) => rate.at === step)
  const sum = {
    at: step,
    points: (last?.points ?? 0) + points * A_MINUTE,
    checkins: (last?.checkins ?? 0) + checkins * A_MINUTE,
  }
  rates.value = [...kept, sum].sort((a, b) => a.at - b.at)
}

/** The last complete minute. Null until a minute was observed. */
export function lastMinute(nowMs: number): Omit<Rate, 'at'> | null {
  if (ratesSince.value === null || nowMs - ratesSince.value < STEP_MS) return null
  const from = Math.max(nowMs - 60_000, ratesSince.value)
  const steps = rates.value.filter(({ at }) => at + STEP_MS > from)
  const sum = (name: 'points' | 'checkins') =>
    Math.round(
      steps.reduce((total, rate) => total + rate[name] / A_MINUTE, 0) *
        (60_000 / Math.max(STEP_MS, nowMs - from)),
    )
  return { points: sum('points'), checkins: sum('checkins') }
}
