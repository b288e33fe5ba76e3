/** A check-in: a position, kept on the device at once, sent as soon as there is a network. */
import { signal } from '@preact/signals'
import { MAX_ACCURACY_M } from '../recording/position-filter.ts'
import { onePosition, OPTIONS, type PositionFault } from '../recording/positions.ts'
import { lastFix, noteCheckIn, recordsHere } from '../recording/recorder.ts'
import { keepPoint, lastCheckIn } from '../session/queue.ts'
import { now } from '../session/clock.ts'

export const checkingIn = signal(false)
export const checkInFault = signal<PositionFault | null>(null)

/** The recorder's last position is of here while it is not older. */
const FRESH_MS = 10_000

async function position() {
  const last = lastFix.value
  const isFresh = last !== null && Math.abs(now() - last.t) < FRESH_MS
  if (recordsHere.value && isFresh && last.accuracy <= 50) return last
  return onePosition({ ...OPTIONS, maximumAge: 5_000 })
}

/** Checks in at the present position. */
export async function checkIn(): Promise<void> {
  if (checkingIn.value) return
  checkingIn.value = true
  checkInFault.value = null
  try {
    const found = await position()
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
    if (accuracy <= MAX_ACCURACY_M) noteCheckIn({ t: at, lat, lng })
    navigator.vibrate?.(80)
  } finally {
    checkingIn.value = false
  }
}
