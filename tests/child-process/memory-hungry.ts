/** A child program that uses the requested processor time, memory or wall time. */
import { replyWith } from '#shared/runtime/child-reply.ts'

export interface Appetite {
  /** Milliseconds of processor time. */
  readonly cpuMs?: number
  /** Bytes of memory to write to. */
  readonly bytes?: number
  /** Milliseconds to wait. */
  readonly waitMs?: number
}

replyWith(async ({ cpuMs = 0, bytes = 0, waitMs = 0 }: Appetite) => {
  const from = process.cpuUsage().user
  while (process.cpuUsage().user - from < cpuMs * 1_000) crypto.getRandomValues(new Uint8Array(1_024))
  const pieces = Array.from({ length: Math.ceil(bytes / 1_000_000) }, () => Buffer.alloc(1_000_000, 1))
  await Bun.sleep(waitMs)
  return pieces.length
})
