/** Service time on this device, even if its clock is wrong or is changed while offline. */
import { computed } from '@preact/signals'
import { CLOCK_TOLERANCE_MS, clockAfterJump } from './clock-rules.ts'
import { keep, kept, onKept, valuesRead } from './stored-signals.ts'

/** Lead of this device's clock over the service's, in milliseconds. */
export const clockAheadMs = kept('walk-clock', 0)

/** Whether the clock is so wrong that the pilgrim is warned. */
export const clockIsWrong = computed(() => Math.abs(clockAheadMs.value) >= CLOCK_TOLERANCE_MS)

/** Wall clock minus monotonic clock, which stops while the phone sleeps. */
const difference = (): number => Date.now() - performance.now()
/** Smaller differences are measurement noise and slow corrections. */
const JUMP_MS = 1_000

/** When the app was last visible, by the device's clock. If it is earlier now, the clock was set back. */
const seenAt = kept('walk-clock-seen', 0)
let seen = difference()
let spareMs = 0
async function followClock(): Promise<void> {
  await valuesRead
  seen = difference() + Math.max(0, seenAt.peek() - Date.now())
  document.addEventListener('visibilitychange', () => {
    look()
    keep(seenAt, Date.now())
  })
}
void followClock()

function look(): void {
  const jumpMs = difference() - seen
  if (Math.abs(jumpMs) < JUMP_MS) return
  seen += jumpMs
  const next = clockAfterJump({ aheadMs: clockAheadMs.peek(), spareMs }, jumpMs)
  spareMs = next.spareMs
  if (next.aheadMs !== clockAheadMs.peek()) keep(clockAheadMs, Math.round(next.aheadMs))
}

/** Starts counting jumps from now. */
function begin(): void {
  seen = difference()
  spareMs = 0
  keep(seenAt, Date.now())
}

/** The service's clock was compared with the device's. */
export function noteClock(aheadMs: number): void {
  keep(clockAheadMs, Math.round(aheadMs))
  begin()
}

// Another window has compared them.
onKept(clockAheadMs, begin)

/** Service time as far as it is known. A wrong device clock loses no points. */
export function now(): number {
  look()
  return Date.now() - (clockIsWrong.value ? clockAheadMs.value : 0)
}
