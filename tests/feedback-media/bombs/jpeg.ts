/**
 * JPEG decompression bombs (ITU T.81): small files that take much time or memory to decode, or that confuse a
 * decoder.
 */
import { type Bytes, be16, be32, bytesOf, text, times } from './bytes.ts'
import { png } from './png.ts'

const segment = (marker: number, body: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([0xff, marker]), be16(body.length + 2), body])

interface Frame {
  readonly marker: number
  readonly width: number
  readonly height: number
  readonly sampling: number
}

const frame = ({ marker, width, height, sampling }: Frame): Buffer =>
  segment(
    marker,
    Buffer.concat([Buffer.from([8]), be16(height), be16(width), Buffer.from([1, 1, sampling, 0])]),
  )

const EIGHT_BIT_TABLE = segment(0xdb, Buffer.concat([Buffer.from([0]), Buffer.alloc(64, 1)]))
/** A table of Huffman codes with one code, `0`, for one symbol. */
const oneCode = (tableClass: 0 | 1, symbol: number): Buffer =>
  segment(0xc4, Buffer.from([tableClass << 4, 1, ...times(15, () => 0), symbol]))
const scan = (
  spectrum: readonly [from: number, to: number],
  approximation: number,
  data: Uint8Array,
): Buffer => Buffer.concat([segment(0xda, Buffer.from([1, 1, 0, ...spectrum, approximation])), data])

/** "The next 32,767 blocks are empty", nine times: code 0 and 14 bits of 1. More than 4,096 × 4,096 pixels need. */
const emptyBlocks = (): Buffer => {
  const bits = times(9, () => `0${'1'.repeat(14)}`)
    .join('')
    .padEnd(136, '1')
  const packed = Buffer.from(times(17, (i) => Number.parseInt(bits.slice(i * 8, i * 8 + 8), 2)))
  return Buffer.from([...packed].flatMap((byte) => (byte === 0xff ? [0xff, 0] : [byte])))
}

const jpegOf = (...parts: readonly Uint8Array[]): Bytes =>
  bytesOf(Buffer.from([0xff, 0xd8]), EIGHT_BIT_TABLE, ...parts, Buffer.from([0xff, 0xd9]))

/** A grey progressive JPEG of 4,096² pixels with many scans that change nothing. */
function refinedJpeg(scans: number): Bytes {
  const header = frame({ marker: 0xc2, width: 4_096, height: 4_096, sampling: 0x11 })
  const blocks = emptyBlocks()
  const refinements = times(scans, (i) => scan([1, 63], i === 0 ? 0x01 : 0x10, blocks))
  return jpegOf(header, oneCode(1, 0xe0), ...refinements)
}

const app = (marker: number, name: string, body: Uint8Array): Buffer =>
  segment(marker, Buffer.concat([text(`${name}\0`), body]))

/** A profile in the maximum number of pieces, each of which declares a profile in pieces. */
const profilePieces = (): Buffer[] =>
  times(255, (i) =>
    app(0xe2, 'ICC_PROFILE', Buffer.concat([Buffer.from([i + 1, 255]), text('ICC_PROFILE\0'.repeat(25))])),
  )

/** A tag directory whose next directory and sub-directories refer to itself. */
function circularExif(): Buffer {
  const entry = (tag: number): Buffer => Buffer.concat([be16(tag), be16(4), be32(1), be32(8)])
  const tags = [0x87_69, 0x88_25, 0xa0_05, 0x01_4a].map(entry)
  return app(
    0xe1,
    'Exif\0',
    Buffer.concat([text('MM'), be16(42), be32(8), be16(tags.length), ...tags, be32(8)]),
  )
}

const afterStart = (jpeg: Bytes, ...parts: readonly Uint8Array[]): Bytes =>
  bytesOf(jpeg.subarray(0, 2), ...parts, jpeg.subarray(2))

export async function jpegBombs(): Promise<Record<string, Bytes>> {
  const small = new Uint8Array(await new Bun.Image(png({ width: 16, height: 16 })).jpeg().bytes())
  const big = refinedJpeg(1)
  return {
    'progressive JPEG, 600 empty scans': refinedJpeg(600),
    'progressive JPEG, 2,800 empty scans': refinedJpeg(2_800),
    'progressive JPEG of 65,500 pixels a side': jpegOf(
      frame({ marker: 0xc2, width: 65_500, height: 65_500, sampling: 0x11 }),
      oneCode(1, 0xe0),
      scan([1, 63], 0x01, emptyBlocks()),
    ),
    'JPEG without a height': jpegOf(frame({ marker: 0xc0, width: 4_096, height: 0, sampling: 0x11 })),
    'JPEG with 20,000 empty comments': afterStart(
      small,
      ...times(20_000, () => segment(0xfe, Buffer.alloc(0))),
    ),
    'JPEG with a profile of profiles': afterStart(small, ...profilePieces()),
    'JPEG with circular EXIF': afterStart(small, circularExif()),
    'JPEG of 100 JPEGs': bytesOf(...times(100, () => small)),
    'JPEG of 4,096² that ends in its scan': bytesOf(
      big.subarray(0, big.length - 10),
      Buffer.from([0xff, 0xd9]),
    ),
  }
}
