/** A check-in: a position that is stored on the device at once and sent when there is a network. */
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
/** Why the check-in failed. `closed`: the app was closed for too long while it looked for the position. */
export const checkInFault = valueOfWalk<PositionFault | 'closed' | null>(null)
effect(() => {
  // A recording that starts later replaces the message.
  if (recording.value) checkInFault.value = null
})
/** Start of the check-in in progress, in epoch milliseconds. If the page ends, the next one resumes it. */
const begunAt = valueOfWalk<number | null>(null, 'walk-check-in')
/** Held by a window while it checks in, and until the other windows have received the result. */
const LOCK = 'walk-check-in'
const KNOWN_AFTER_MS = 1_000
/** A check-in that is older than this (ms) is not resumed: the pilgrim may be elsewhere by now. */
const GOES_ON_MS = 600_000

/** Maximum age (ms) at which the recorder's last position serves as the current one. */
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

/** Resumes a check-in whose page has ended, unless another window is working on it. */
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
  // Another walk was taken over meanwhile: drop the check-in.
  if (person.value?.userId !== userId) return
  if (typeof found === 'string') {
    checkInFault.value = found
    return
  }
  const { t: _, lat, lng, accuracy, altitude, speed } = found
  const at = now()
  // Show it before it is sent: the response may arrive at any moment after that.
  lastCheckIn.value = { t: at, accuracy, state: 'kept', inRange: true, clockCorrected: false }
  const point = { lat, lng, accuracy, altitude, speed, timestamp: at, source: 'walk' }
  if (!(await keepPoint('checkin', point))) {
    lastCheckIn.value = null
    checkInFault.value = 'storage'
    return
  }
  // A rough position does not restart the filter's 30 s.
  if (!isRough(point)) noteCheckIn({ t: at, lat, lng, accuracy })
  navigator.vibrate?.(80)
}
