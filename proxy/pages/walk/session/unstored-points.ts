/**
 * Points that the queue's store cannot take at the moment: it is not open yet, a newer release of the app is
 * changing it, or the browser has closed it. Until then they are in `localStorage`. Each has its own entry,
 * so that no tab overwrites another's.
 */
import { signal } from '@preact/signals'
import type { Kept, Kind, QueuedPoint, RecordedPoint, TrackQueue } from '#shared/client/index.ts'
import { person } from './current-state.ts'

/** A point with its own time, which identifies it. */
export type TimedPoint = RecordedPoint & { readonly timestamp: number }
interface SetAside {
  readonly kind: Kind
  readonly userId: string
  readonly point: TimedPoint
}

const PREFIX = 'event-walk-aside '

export const recordIn = (queue: TrackQueue, kind: Kind, point: RecordedPoint): Promise<Kept> =>
  kind === 'checkin' ? queue.checkIn(point) : queue.record(point)

function entries(): (readonly [key: string, SetAside])[] {
  try {
    return Object.keys(localStorage)
      .filter((key) => key.startsWith(PREFIX))
      .map((key) => [key, JSON.parse(localStorage.getItem(key)!) as SetAside])
  } catch {
    return []
  }
}

const all = signal(entries())
const readAgain = (): void => void (all.value = entries())

/** Set-aside points of this device's pilgrim, in the queue's form. */
export const asideOfPilgrim = (): readonly QueuedPoint[] =>
  all.value
    .filter(([, { userId }]) => userId === person.value?.userId)
    .map(
      ([
        ,
        {
          kind,
          userId,
          point: { timestamp: t, ...fields },
        },
      ]) => ({ userId, kind, t, fields }),
    )

/** @returns whether the browser has stored it */
export function setAside(aside: SetAside): boolean {
  const { kind, userId, point } = aside
  try {
    localStorage.setItem(`${PREFIX}${kind} ${point.timestamp} ${userId}`, JSON.stringify(aside))
  } catch {
    return false
  }
  readAgain()
  return true
}

/**
 * Moves the pilgrim's points back to the queue.
 * @returns whether it took all of them; the others stay here
 */
export async function takeBack(queue: TrackQueue, userId: string): Promise<boolean> {
  let isTaken = true
  for (const [key, { kind, point, userId: owner }] of entries()) {
    if (owner !== userId) continue
    const kept = await recordIn(queue, kind, point)
    if (kept.ok || kept.error.code === 'invalid-request') localStorage.removeItem(key)
    else isTaken = false
    readAgain()
  }
  return isTaken
}

/** Calls the listener when another tab has set a point aside. */
export const onSetAside = (listener: () => void): void =>
  window.addEventListener('storage', ({ key, newValue }) => {
    if (!key?.startsWith(PREFIX)) return
    readAgain()
    if (newValue !== null) listener()
  })

/** Deletes all of them, after an erasure. */
export function forgetSetAside(): void {
  for (const [key] of entries()) localStorage.removeItem(key)
  readAgain()
}
