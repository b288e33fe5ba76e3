/**
 * Whether a service stores as fast as the crowd sends. A service on one computer admits points faster than it stores
 * them; without a pause its buffer would grow as long as a large crowd hurries.
 */
import type { Client } from '#shared/client/index.ts'
import { pause } from './phone.ts'

export interface FlushWatch {
  /** Whether the last flush ended too long ago. */
  readonly isBehind: boolean
  /** Resolves when the service stores fast enough, or at the signal. */
  caughtUp(): Promise<void>
}

const LOOK_AGAIN_MS = 200

/**
 * Asks `GET /health` until the signal. While it has no answer it keeps the last one: that a service does not answer is
 * for each phone to deal with.
 * @param limitMs the time since the last flush above which the crowd waits
 * @param everyMs time between two questions
 */
export function watchFlush(
  client: Pick<Client, 'readHealth'>,
  { limitMs, everyMs = 2_000, signal }: { limitMs: number; everyMs?: number; signal: AbortSignal },
): FlushWatch {
  let flushedMs = Date.now()
  const isBehind = () => Date.now() - flushedMs > limitMs
  const watch = async () => {
    while (!signal.aborted) {
      const answer = await client.readHealth({}, { signal })
      if (answer.ok && answer.data.last_flush !== null) flushedMs = Date.parse(answer.data.last_flush)
      await pause(everyMs, signal)
    }
  }
  void watch()
  return {
    get isBehind() {
      return isBehind()
    },
    async caughtUp() {
      while (isBehind() && !signal.aborted) await pause(LOOK_AGAIN_MS, signal)
    },
  }
}
