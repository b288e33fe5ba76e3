/** A check-in: a position, kept on the device at once, sent as soon as there is a network. */
import { effect, signal } from '@preact/signals'
import { isRough } from '#shared/core/rules/geo.ts'
import { onePosition, OPTIONS, type PositionFault } from '../recording/positions.ts'
import { lastFix, noteCheckIn, recordsHere } from '../recording/recorder.ts'
import { keepPoint, lastCheckIn } from '../outbox.ts'
import { now } from '../session/clock.ts'
import { keep, valueOfWalk } from '../session/stored-signals.ts'
import { consentWithdrawn, person, recording } from '../session/current-state.ts'
import { withoutReload } from '../session/update.ts'

export const checkingIn = signal(false)
/** Why there is no check-in. `closed`: the app was closed too long while it looked for the place. */
export const checkInFault = valueOfWalk<PositionFault | 'closed' | null>(null)
effect(() => {
  // What the pilgrim did after it is newer.
  if (recording.value) checkInFault.value = null
})
/**
 * When the check-in was begun that is under way, in epoch milliseconds. A page that is ended leaves it to the next
 * one.
 */
const begunAt = valueOfWalk<number | null>(null, 'walk-check-in')
/** A window holds it while it checks in, and until the others know that it has. */
const LOCK = 'walk-check-in'
const KNOWN_AFTER_MS = 1_000
/** Later, the pilgrim may be somewhere else and want nothing. */
const GOES_ON_MS = 600_000

/** The recorder's last position is of here while it is not older. */
const FRESH_MS = 10_000

async function position() {
  const last = lastFix.value
  const isFresh = last !== null && Math.abs(now() - last.t) < FRESH_MS
  if (recordsHere.value && isFresh && last.accuracy <= 50) return last
  return onePosition({ ...OPTIONS, maximumAge: 5_000 })
}

export async function checkIn(): Promise<void> {
  if (checkingIn.value || consentWithdrawn.value) return
  checkingIn.value = true
  checkInFault.value = null
  keep(begunAt, now())
  const work = findAndKeep().finally(() => {
    checkingIn.value = false
    keep(begunAt, null)
  })
  const known = async () => {
    await Promise.allSettled([work])
    await new Promise((resolve) => setTimeout(resolve, KNOWN_AFTER_MS))
  }
  void navigator.locks?.request(LOCK, { mode: 'shared' }, known).catch(() => undefined)
  await withoutReload(work)
}

/** Goes on with a check-in whose page was ended, unless another window is at it. */
export function resumeCheckIn(): void {
  if (begunAt.value === null || person.value === null) return
  const resume = async () => {
    const begunMs = begunAt.value
    if (begunMs === null) return
    if (Math.abs(now() - begunMs) <= GOES_ON_MS) return void checkIn()
    keep(begunAt, null)
    checkInFault.value = 'closed'
  }
  void (navigator.locks?.request(LOCK, resume) ?? resume())
}

async function findAndKeep(): Promise<void> {
  const userId = person.value?.userId
  const found = await position()
  // Another walk was taken over meanwhile: the check-in is of nobody here.
  if (person.value?.userId !== userId) return
  if (typeof found === 'string') {
    checkInFault.value = found
    return
  }
  const { t: _, lat, lng, accuracy, altitude, speed } = found
  const at = now()
  // Shown before it is sent, because the answer may come at any moment after that.
  lastCheckIn.value = { t: at, accuracy, state: 'kept', inRange: true, clockCorrected: false }
  const point = { lat, lng, accuracy, altitude, speed, timestamp: at, source: 'walk' }
  if (!(await keepPoint('checkin', point))) {
    lastCheckIn.value = null
    checkInFault.value = 'storage'
    return
  }
  // A rough place is not where the next 30 s begin.
  if (!isRough(point)) noteCheckIn({ t: at, lat, lng, accuracy })
  navigator.vibrate?.(80)
}
