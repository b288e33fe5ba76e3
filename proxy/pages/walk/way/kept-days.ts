/**
 * Days of the pilgrim's way on this device. They are large, so they are read from the storage when a view needs them.
 */
import { signal } from '@preact/signals'
import type { Data } from '#shared/client/index.ts'
import { remember, remembered } from '../../frame/storage.ts'

export interface DayOfWay extends Pick<Data<'readOwnWalk'>, 'line' | 'stretches' | 'checkins'> {
  /** The sums that the day had when it was read: others mean that it has changed. */
  readonly km: number
  readonly checkIns: number
}

interface Days {
  readonly userId: string
  readonly days: Readonly<Record<string, DayOfWay>>
}

const NAME = 'walk-days'
/** About a day's walk each: all of a pilgrimage, and far below what a browser keeps for a page. */
const MOST_DAYS = 20

const held = signal<Days | null>(null)

/** Reads what the device has of this pilgrim; once. */
export function openDays(userId: string): void {
  if (held.value?.userId === userId) return
  held.value = { userId, days: {} }
  try {
    const stored = JSON.parse(remembered(NAME) ?? 'null') as Days | null
    if (stored?.userId === userId) held.value = stored
  } catch {
    // Another release has kept something else: the days are read again.
    remember(NAME, null)
  }
}

export const dayOf = (day: string): DayOfWay | null => held.value?.days[day] ?? null

export function keepDay(userId: string, day: string, way: DayOfWay): void {
  openDays(userId)
  const days = Object.entries({ ...held.value!.days, [day]: way }).sort(([a], [b]) => (a < b ? -1 : 1))
  held.value = { userId, days: Object.fromEntries(days.slice(-MOST_DAYS)) }
  remember(NAME, JSON.stringify(held.value))
}

/** After an erasure. */
export function forgetDays(): void {
  held.value = null
  remember(NAME, null)
}
