/** The service's time on this device, also while its clock is wrong, or is set in a dead zone. */
import { computed } from '@preact/signals'
import { CLOCK_TOLERANCE_MS, clockAfterJump } from './clock-rules.ts'
import { keep, kept, onKept, valuesRead } from './stored-signals.ts'

/** By how much this device's clock is ahead of the service's, in milliseconds. */
export const clockAheadMs = kept('walk-clock', 0)

/** Whether the clock is so wrong that the pilgrim is told. */
export const clockIsWrong = computed(() => Math.abs(clockAheadMs.value) >= CLOCK_TOLERANCE_MS)

/** The clock's time less that of a clock which nobody sets; that one stops while the phone sleeps. */
const difference = (): number => Date.now() - performance.now()
/** Smaller differences are inexact readings, and slow corrections. */
const JUMP_MS = 1_000

/** When the app was in sight last, by the device's clock: one that is earlier now was set back meanwhile. */
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

/** From now on, jumps are counted. */
function begin(): void {
  seen = difference()
  spareMs = 0
  keep(seenAt, Date.now())
}

/** The service's clock has been compared with the device's. */
export function noteClock(aheadMs: number): void {
  keep(clockAheadMs, Math.round(aheadMs))
  begin()
}

// Another window has compared them.
onKept(clockAheadMs, begin)

/** The time by the service's clock, as far as it is known. A wrong clock of the device loses no point. */
export function now(): number {
  look()
  return Date.now() - (clockIsWrong.value ? clockAheadMs.value : 0)
}
