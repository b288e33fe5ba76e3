/**
 * Pictures that strangers send, decoded where a decoder can be killed: a process of its own for each, one at a
 * time. Few bytes may hold a picture that takes minutes, or gigabytes, to unpack.
 */
import { join } from 'node:path'
import { ChildFailed, openChild } from '#shared/child-process/child-process.ts'
import { invalid, unavailable } from '#shared/http/errors.ts'
import type { Decoded, DecodeOrder } from './decode-child.ts'
import { formatOf, isWhole } from './image-format.ts'

const MAX_SIDE_PX = 4_096
const MAX_PIXELS = 20_000_000
/** The largest picture of one colour takes 0.6 s and 180 MB (Bun 1.4.5, measured). */
const LIMITS = { cpuSeconds: 2, memoryBytes: 512_000_000 }
/** On a busy machine two seconds of a core take longer. */
const TIMEOUT_MS = 20_000
/** Behind pictures that each take their two seconds, the last one is answered within 20 s. */
const WAITING = 8

const TOO_COSTLY =
  `image: takes too long or too much memory to decode (at most ${LIMITS.cpuSeconds} s of a processor` +
  ` and ${LIMITS.memoryBytes / 1e6} MB); send a smaller or a simpler picture`

export const NOT_AN_IMAGE = 'image: is not a whole PNG, JPEG or WebP picture'

const TOO_BUSY = 'The picture could not be decoded in time: please try again in a moment.'

const CHILD = join(import.meta.dir, 'decode-child.ts')

export interface Decoder {
  /**
   * Decodes a picture, and encodes it anew as a PNG: what comes out was written by us.
   * @throws Refusal 400 for what is not a whole picture of an allowed kind, size and cost; 503 when too many wait, or the machine is
   * too busy
   */
  asPng(picture: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>
  close(): Promise<void>
}

/** Opens a decoder; nothing runs before the first picture. */
export function openDecoder(): Decoder {
  const child = openChild<DecodeOrder, Decoded>({
    program: CHILD,
    waiting: WAITING,
    // The kernel counts the processor time of a whole life; and no picture sees another one.
    recycleAfter: 1,
    recycleBytes: LIMITS.memoryBytes,
    timeoutMs: TIMEOUT_MS,
    idleMs: TIMEOUT_MS,
    limits: LIMITS,
  })
  return {
    async asPng(picture) {
      const format = formatOf(picture)
      if (format === null || !isWhole(picture, format)) throw invalid(NOT_AN_IMAGE)
      const order = { picture, format, maxPixels: MAX_PIXELS, maxSidePx: MAX_SIDE_PX }
      const decoded = await child.run(order).catch((error: unknown) => {
        if (!(error instanceof ChildFailed)) throw error
        throw error.isLate ? unavailable(TOO_BUSY) : invalid(TOO_COSTLY)
      })
      if ('png' in decoded) return new Uint8Array(decoded.png)
      if ('tooManyPixels' in decoded) throw invalid(`image: has more than ${MAX_PIXELS / 1e6} million pixels`)
      if ('unreadable' in decoded) throw invalid(NOT_AN_IMAGE)
      const { width, height } = decoded.tooLong
      throw invalid(`image: is ${width} × ${height} pixels; at most ${MAX_SIDE_PX} a side are taken`)
    },
    close: () => child.close(),
  }
}
