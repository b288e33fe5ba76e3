/**
 * Points that the queue's store can not take at the moment: it is not open yet, or a newer release of the app changes
 * it. Until it can, they are in the browser's other storage. Each has an entry of its own, so that no tab overwrites
 * what another one wrote.
 */
import type { Kept, Kind, RecordedPoint, TrackQueue } from '#shared/client/index.ts'

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

/** @returns whether the browser has kept it */
export function setAside(aside: SetAside): boolean {
  const { kind, userId, point } = aside
  try {
    localStorage.setItem(`${PREFIX}${kind} ${point.timestamp} ${userId}`, JSON.stringify(aside))
    return true
  } catch {
    return false
  }
}

function entries(): (readonly [key: string, SetAside])[] {
  try {
    return Object.keys(localStorage)
      .filter((key) => key.startsWith(PREFIX))
      .map((key) => [key, JSON.parse(localStorage.getItem(key)!) as SetAside])
  } catch {
    return []
  }
}

/** Gives the pilgrim's points back to the queue. What it can not take now stays here. */
export async function takeBack(queue: TrackQueue, userId: string): Promise<void> {
  for (const [key, { kind, point, userId: owner }] of entries()) {
    if (owner !== userId) continue
    const kept = await recordIn(queue, kind, point)
    if (kept.ok || kept.error.code === 'invalid-request') localStorage.removeItem(key)
  }
}

/** Calls the listener when another tab has set a point aside. */
export const onSetAside = (listener: () => void): void =>
  window.addEventListener('storage', ({ key, newValue }) => {
    if (key?.startsWith(PREFIX) && newValue !== null) listener()
  })

/** Forgets all of them, after an erasure. */
export function forgetSetAside(): void {
  for (const [key] of entries()) localStorage.removeItem(key)
}
