/** Common parts of the simulated apps: a phone with a network, and the fixes that its app has not sent. */
import type { Fix, Sent } from '#tests/tracking/tracker-bodies.ts'
import type { Simulation } from './simulation.ts'

export interface Phone {
  /** A fix that the app records now. */
  record(fix: Fix): void
  /** Whether there is a network. */
  online: boolean
  /** Restarts the app, which loses its memory. */
  reboot(): void
  /** Fixes that the app still has. */
  kept(): readonly Fix[]
  /** Fixes that the app deleted without success. */
  readonly dropped: readonly Fix[]
  /** Statuses that the app showed to its user as an alert or an error. */
  readonly shown: readonly number[]
}

export type OpenPhone = (simulation: Simulation, key: string) => Phone

/** An app with a queue that sends its head until it is accepted. */
export function queuePhone(
  { time, send }: Simulation,
  key: string,
  app: {
    readonly form: (fix: Fix) => Sent
    /** Delay before the next attempt after consecutive failures, ms. */
    readonly backoffMs: (failures: number) => number
    /** Whether the app deletes the head after this status. */
    readonly deletesOn: (status: number) => boolean
    /** Whether the queue is in memory only. */
    readonly forgetsOnReboot?: boolean
    /** Age at which the head is dropped, ms. */
    readonly longestMs?: number
    /** Whether a new fix restarts sending, without a timer. */
    readonly sendsOnFix?: boolean
  },
): Phone {
  let queue: Fix[] = []
  const recordedMs = new Map<Fix, number>()
  const dropped: Fix[] = []
  const shown: number[] = []
  let isRunning = false
  let failures = 0
  let isOnline = true

  /** Sends the head until the queue is empty or a request fails. */
  const run = async (): Promise<void> => {
    if (isRunning || !isOnline) return
    isRunning = true
    try {
      for (let head = queue[0]; head !== undefined; head = queue[0]) {
        if (time.nowMs - recordedMs.get(head)! > (app.longestMs ?? Infinity)) {
          dropped.push(queue.shift()!)
          continue
        }
        const { status } = await send(key, app.form(head))
        if (status >= 200 && status < 300) {
          queue.shift()
          failures = 0
          continue
        }
        shown.push(status)
        if (app.deletesOn(status)) dropped.push(queue.shift()!)
        if (!app.sendsOnFix) time.after(app.backoffMs(failures++), run)
        return
      }
    } finally {
      isRunning = false
    }
  }
  return {
    record(fix) {
      recordedMs.set(fix, time.nowMs)
      const wasEmpty = queue.length === 0
      queue.push(fix)
      if (wasEmpty || app.sendsOnFix) time.after(0, run)
    },
    get online() {
      return isOnline
    },
    set online(online) {
      isOnline = online
      // Android and iOS notify an app of a network. OsmAnd waits for the next fix.
      if (online && !app.sendsOnFix) time.after(0, run)
    },
    reboot() {
      if (app.forgetsOnReboot) {
        dropped.push(...queue)
        queue = []
      } else time.after(0, run)
    },
    kept: () => queue,
    dropped,
    shown,
  }
}
