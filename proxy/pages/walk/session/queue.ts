/** The queue of check-ins and points: everything that is recorded is on this device first, and sent by itself. */
import { signal } from '@preact/signals'
import { createTrackQueue, type QueueState, type QueueStore, type TrackQueue } from '#shared/client/index.ts'
import { openIndexedDbStore } from '#shared/client/queue/indexed-db-store.ts'
import { person } from './person.ts'
import { client, noteError, refreshProfile, signInNeeded } from './service.ts'

/** Null until the store is open; `'failed'` where the browser refuses to keep anything. */
export const queue = signal<TrackQueue | 'failed' | null>(null)
export const waiting = signal<QueueState | null>(null)

let store: QueueStore | null = null

/** Forgets what waits, after an erasure. */
export async function clearQueue(userId: string | null): Promise<void> {
  const open = queue.value
  if (open !== null && open !== 'failed') await open.stop()
  if (userId !== null) await store?.clear(userId)
}

export type LastCheckIn = {
  readonly t: number
  readonly accuracy: number | null
  /** `kept`: on this device; `counted`: the service has it. */
  readonly state: 'kept' | 'counted'
  readonly inRange: boolean
  readonly clockCorrected: boolean
}
export const lastCheckIn = signal<LastCheckIn | null>(null)

/** Opens the store and begins to send. */
export async function openQueue(): Promise<void> {
  try {
    store = await openIndexedDbStore('walk')
    const opened = createTrackQueue({
      client,
      store,
      onSent({ kind, durable, answer }) {
        if (kind === 'checkin' && answer !== null && 'recorded_at' in answer) confirm(durable[0]?.t, answer)
        signInNeeded.value = false
        void refreshProfile()
      },
    })
    opened.subscribe((state) => {
      // Before the first minute nobody walks: nothing waits, and nobody has to log in again.
      if (person.value === null) return
      waiting.value = state
      const { why, message } = state
      if (why !== null && why !== 'offline') noteError({ code: why, message: message ?? '', status: 0 })
    })
    queue.value = opened
    opened.start()
    // Asked for once somebody has something to lose.
    void navigator.storage?.persist?.()
  } catch {
    queue.value = 'failed'
  }
}

function confirm(t: number | undefined, answer: { in_range: boolean; clock_corrected: boolean }): void {
  const last = lastCheckIn.value
  if (last === null || last.t !== t) return
  lastCheckIn.value = {
    ...last,
    state: 'counted',
    inRange: answer.in_range,
    clockCorrected: answer.clock_corrected,
  }
}
