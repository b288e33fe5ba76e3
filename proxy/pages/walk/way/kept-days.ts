/**
 * Days of the pilgrim's way on this device. They are large, so they are read from the database only when a
 * view needs them.
 */
import type { Data } from '#shared/client/index.ts'
import { LARGE, readLarge, valueOfWalk, write } from '../session/stored-signals.ts'

export interface DayOfWay extends Pick<Data<'readOwnWalk'>, 'line' | 'stretches' | 'checkins'> {
  /** The day's sums when it was read; if they differ, the day has changed. */
  readonly km: number
  readonly checkIns: number
}

interface Days {
  readonly userId: string
  readonly days: Readonly<Record<string, DayOfWay>>
}

const NAME = LARGE[0]!
/** A day of walking each: enough for a pilgrimage, and far below a browser's storage limit. */
const MOST_DAYS = 20

const cache = valueOfWalk<Days | null>(null)

/** Reads the stored days of this pilgrim, once. */
export async function openDays(userId: string): Promise<void> {
  if (cache.value?.userId === userId) return
  const stored = (await readLarge(NAME)) as Days | null
  if (cache.value?.userId !== userId) cache.value = stored?.userId === userId ? stored : { userId, days: {} }
}

export const dayOf = (day: string): DayOfWay | null => cache.value?.days[day] ?? null

export async function keepDay(userId: string, day: string, way: DayOfWay): Promise<void> {
  await openDays(userId)
  const days = Object.entries({ ...cache.value!.days, [day]: way }).sort(([a], [b]) => (a < b ? -1 : 1))
  cache.value = { userId, days: Object.fromEntries(days.slice(-MOST_DAYS)) }
  await write(new Map([[NAME, cache.value]]))
}
