/**
 * Decodes untrusted pictures, each in its own child process, one at a time. A small file may take minutes or
 * gigabytes to decode; then the process is killed.
 */
import { join } from 'node:path'
import { ChildFailed, openChild } from '#shared/runtime/child-process.ts'
import { invalid, unavailable } from '#shared/runtime/refusal.ts'
import type { Decoded, DecodeOrder } from './decode-child.ts'
import type { AddressLimit } from '#shared/service/security/caller-and-address-limits.ts'
import { formatOf, isWhole } from './image-format.ts'

const MAX_SIDE_PX = 4_096
const MAX_PIXELS = 20_000_000
/** Maximum bytes of a stored picture. */
const MAX_STORED_BYTES = 2_000_000
/** The largest picture of one colour takes 0.6 s and 180 MB (Bun 1.4.5, measured). */
const LIMITS = { cpuSeconds: 2, memoryBytes: 512_000_000 }
/** Wall-clock time. On a busy machine two seconds of processor time take longer. */
const TIMEOUT_MS = 20_000
/** If each picture takes two seconds, the last one in the queue is answered within 20 s. */
const WAITING = 8
/**
 * Shorter than the timeout of a request (25 s): on a busy machine a picture may use its whole time, and a queue of
 * abandoned pictures would block others.
 */
const ANSWER_MS = 24_000

const TOO_COSTLY =
  `image: takes too long or too much memory to decode (at most ${LIMITS.cpuSeconds} s of a processor` +
  ` and ${LIMITS.memoryBytes / 1e6} MB); send a smaller or a simpler picture`

export const NOT_AN_IMAGE =
  'image: is not a whole PNG, JPEG or WebP picture. Export a picture of another format (HEIC, AVIF) as JPEG'

/** Maximum pictures of one address in the queue and in progress, so that others get their turn. */
const OF_ADDRESS = 2
/** Price of a picture, in calls of its address: 120 in a minute, and 10 that reach a limit of the decoder. */
const PRICE = 50
const COSTLY_PRICE = 600

const TOO_BUSY = 'The picture could not be decoded in time. Please try again in a moment.'

const TOO_MANY = 'Two pictures from your address are being read. Please try again in a moment.'

const CHILD = join(import.meta.dir, 'decode-child.ts')

export interface Decoder {
  /**
   * Decodes a picture and encodes it as a new PNG of at most `MAX_STORED_BYTES`; a larger one is scaled down.
   * @param address the sender, whose rate limit is charged
   * @throws Refusal 400 for an incomplete picture or a format, size or cost that is not allowed; 429; 503 when the
   *   queue is full, two pictures of the address are in it, or the machine is too busy
   */
  asPng(picture: Uint8Array<ArrayBuffer>, address: string): Promise<Uint8Array<ArrayBuffer>>
  close(): Promise<void>
}

export function openDecoder(addresses: AddressLimit): Decoder {
  const ofAddress = new Map<string, number>()
  const child = openChild<DecodeOrder, Decoded>({
    program: CHILD,
    waiting: WAITING,
    // One process per picture: the kernel limits processor time per process, and pictures are isolated from each
    // other.
    recycleAfter: 1,
    recycleBytes: LIMITS.memoryBytes,
    timeoutMs: TIMEOUT_MS,
    answerMs: ANSWER_MS,
    idleMs: TIMEOUT_MS,
    limits: LIMITS,
  })
  return {
    async asPng(picture, address) {
      const format = formatOf(picture)
      if (format === null || !isWhole(picture, format)) throw invalid(NOT_AN_IMAGE)
      const before = ofAddress.get(address) ?? 0
      if (before >= OF_ADDRESS) throw unavailable(TOO_MANY)
      addresses.charge(address, PRICE)
      ofAddress.set(address, before + 1)
      const order = {
        picture,
        format,
        maxPixels: MAX_PIXELS,
        maxSidePx: MAX_SIDE_PX,
        maxBytes: MAX_STORED_BYTES,
      }
      const decoded = await child
        .run(order)
        .catch((error: unknown) => {
          if (!(error instanceof ChildFailed)) throw error
          addresses.charge(address, COSTLY_PRICE)
          throw error.isLate ? unavailable(TOO_BUSY) : invalid(TOO_COSTLY)
        })
        .finally(() => {
          const left = ofAddress.get(address)! - 1
          if (left > 0) ofAddress.set(address, left)
          else ofAddress.delete(address)
        })
      if ('png' in decoded) return new Uint8Array(decoded.png)
      if ('tooManyPixels' in decoded) throw invalid(`image: has more than ${MAX_PIXELS / 1e6} million pixels`)
      if ('unreadable' in decoded) throw invalid(NOT_AN_IMAGE)
      const { width, height } = decoded.tooLong
      throw invalid(`image: is ${width} × ${height} pixels; at most ${MAX_SIDE_PX} a side are accepted`)
    },
    close: () => child.close(),
  }
}
