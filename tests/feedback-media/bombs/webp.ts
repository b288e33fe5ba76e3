/**
 * WebP decompression bombs (RFC 9649): small files that take much time or memory to decode, or that confuse a
 * decoder.
 */
import { deflateRawSync } from 'node:zlib'
import { type Bytes, bytesOf, le24, le32, text, times } from './bytes.ts'
import { png } from './png.ts'

const riffChunk = (type: string, data: Uint8Array): Buffer =>
  Buffer.concat([text(type), le32(data.length), data, Buffer.alloc(data.length % 2)])
const webpOf = (...chunks: readonly Uint8Array[]): Bytes => {
  const body = Buffer.concat([text('WEBP'), ...chunks])
  return bytesOf(text('RIFF'), le32(body.length), body)
}
const extended = (flags: number, width: number, height: number): Buffer =>
  riffChunk('VP8X', Buffer.concat([Buffer.from([flags, 0, 0, 0]), le24(width - 1), le24(height - 1)]))

/** The picture chunk of a WebP. */
const pictureChunk = (webp: Bytes): Buffer => Buffer.from(webp.subarray(12))

const ANIMATED = 0x02
const PROFILE = 0x20

/** An animated WebP with as many frames of this picture as fit into this many bytes. */
function animatedWebp(still: Bytes, side: number, bytes: number): Bytes {
  const place = Buffer.concat([le24(0), le24(0), le24(side - 1), le24(side - 1), le24(1), Buffer.from([0])])
  const one = riffChunk('ANMF', Buffer.concat([place, pictureChunk(still)]))
  const frames = times(Math.floor(bytes / one.length), () => one)
  return webpOf(extended(ANIMATED, side, side), riffChunk('ANIM', Buffer.alloc(6)), ...frames)
}

export async function webpBombs(): Promise<Record<string, Bytes>> {
  const still = async (side: number) =>
    new Uint8Array(await new Bun.Image(png({ width: side, height: side })).webp({ lossless: true }).bytes())
  const large = await still(4_096)
  const tiny = await still(16)
  const lossy = new Uint8Array(
    await new Bun.Image(png({ width: 4_096, height: 4_096 })).webp({ quality: 1 }).bytes(),
  )
  const cut = Buffer.from(large.subarray(0, large.length - 8))
  cut.writeUInt32LE(cut.length - 8, 4)
  const claimed = Buffer.from(tiny)
  // Fourteen bits each of width and height, less one.
  claimed.writeUInt32LE(0x0f_ff_ff_ff, 21)
  return {
    'WebP of 4,096²': large,
    'lossy WebP of 4,096²': lossy,
    'animated WebP of large frames': animatedWebp(large, 4_096, 100_000),
    'animated WebP of small frames': animatedWebp(tiny, 16, 100_000),
    'animated WebP without a frame': webpOf(
      extended(ANIMATED, 4_096, 4_096),
      riffChunk('ANIM', Buffer.alloc(6)),
    ),
    'WebP of a claimed size': new Uint8Array(claimed),
    'WebP on a canvas of 2⁴⁸ pixels': webpOf(extended(0, 16_777_216, 16_777_216), pictureChunk(tiny)),
    'WebP with 10,000 unknown chunks': webpOf(
      extended(0, 16, 16),
      ...times(10_000, () => riffChunk('junk', Buffer.alloc(0))),
      pictureChunk(tiny),
    ),
    'WebP with a profile that inflates': webpOf(
      extended(PROFILE, 16, 16),
      riffChunk('ICCP', deflateRawSync(Buffer.alloc(60_000_000))),
      pictureChunk(tiny),
    ),
    'WebP cut in its picture': new Uint8Array(cut),
  }
}
