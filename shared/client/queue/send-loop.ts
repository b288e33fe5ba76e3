/** Sends round after round, each when it is due or when something has changed. */
import type { Rounds } from './rounds.ts'
import type { Clock, Network } from './surroundings.ts'

export interface SendLoop {
  start(): void
  /** Resolves when no request is on its way. */
  stop(): Promise<void>
  /** Something has changed: the next round begins now. */
  awaken(): void
}

export function createSendLoop(rounds: Rounds, clock: Clock, network: Network): SendLoop {
  let running: { readonly stopping: AbortController; readonly ended: Promise<void> } | null = null
  let sleep = new AbortController()
  const awaken = () => sleep.abort()

  async function run(stopping: AbortSignal): Promise<void> {
    stopping.addEventListener('abort', awaken)
    while (!stopping.aborted) {
      // Before the round: what is recorded while it runs belongs to the next one.
      sleep = new AbortController()
      const { signal } = sleep
      const next = await rounds.run({ signal: stopping, collecting: true })
      if (!stopping.aborted)
        await clock.sleep(next === null ? Infinity : Math.max(0, next - clock.now()), signal)
    }
  }

  return {
    awaken,
    start() {
      if (running !== null) return
      const stopping = new AbortController()
      // When the store fails, the next round says so.
      const leave = network.subscribe(() => void rounds.reconnect().then(awaken, awaken))
      running = { stopping, ended: run(stopping.signal).finally(leave) }
    },
    async stop() {
      const was = running
      running = null
      was?.stopping.abort()
      await was?.ended
    },
  }
}
