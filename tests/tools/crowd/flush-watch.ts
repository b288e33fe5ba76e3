/**
 * Checks whether a service stores as fast as the crowd sends. A service on one computer accepts points faster
 * than it stores them; without pauses a large crowd would fill its buffer.
 */
import type { Client } from '#shared/client/index.ts'
import { pause } from './phone.ts'

export interface FlushWatch {
  /** Whether the last flush ended too long ago. */
  readonly isBehind: boolean
  /** Resolves when the service stores fast enough, or when the signal aborts. */
  caughtUp(): Promise<void>
}

const LOOK_AGAIN_MS = 200

/**
 * Polls `GET /health` until the signal aborts. Without a response the last one is kept: each phone handles an
 * unresponsive service itself.
 * @param limitMs time since the last flush above which the crowd waits
 * @param everyMs polling interval
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
