/** The points of entries of the buffer. */
import { type BufferedPoint, unpack } from '#shared/buffer/point.ts'
import type { Entry } from '#shared/kv/kv.ts'

/** Skips entries that can not be parsed. The flush makes dead letters of them. */
export const readable = (entries: readonly Entry[]): BufferedPoint[] =>
  entries.flatMap((entry) => {
    try {
      return [unpack(entry)]
    } catch {
      return []
    }
  })
