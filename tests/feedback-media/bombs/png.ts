/**
 * PNG decompression bombs (third edition): small files that take much time or memory to decode, or that confuse a
 * decoder.
 */
import { crc32, deflateSync } from 'node:zlib'
import { type Bytes, be16, be32, bytesOf, text, times } from './bytes.ts'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([text(type), data])
  return Buffer.concat([be32(data.length), body, be32(crc32(body))])
}

interface Sheet {
  readonly width: number
  readonly height: number
  readonly depth?: number
  readonly colour?: number
  readonly interlaced?: boolean
  readonly filter?: number
  readonly before?: readonly Buffer[]
  readonly after?: readonly Buffer[]
  /** The rows, not yet compressed, instead of empty ones. */
  readonly rows?: Uint8Array
  /** The rows, compressed, in chunks of this many bytes. */
  readonly cut?: number
}

const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }

function emptyRows({ width, height, depth = 8, colour = 2, interlaced = false, filter = 0 }: Sheet): Buffer {
  const row = Buffer.alloc(1 + Math.ceil((width * depth * CHANNELS[colour]!) / 8))
  row[0] = filter
  // Interlaced passes have more, but shorter rows. This is more than either layout needs.
  return Buffer.concat(times(interlaced ? height * 2 : height, () => row))
}

/** A PNG, empty unless rows are given. */
export function png(sheet: Sheet): Bytes {
  const { width, height, depth = 8, colour = 2, interlaced = false, before = [], after = [] } = sheet
  const header = Buffer.concat([
    be32(width),
    be32(height),
    Buffer.from([depth, colour, 0, 0, interlaced ? 1 : 0]),
  ])
  const data = deflateSync(sheet.rows ?? emptyRows(sheet), { level: 9 })
  const cut = sheet.cut ?? data.length
  const pieces = times(Math.ceil(data.length / cut), (i) =>
    chunk('IDAT', data.subarray(i * cut, (i + 1) * cut)),
  )
  return bytesOf(
    SIGNATURE,
    chunk('IHDR', header),
    ...before,
    ...pieces,
    ...after,
    chunk('IEND', Buffer.alloc(0)),
  )
}

const small = { width: 8, height: 8 }
/** 90 MB that are compressed to 90 kB. */
const inflating = (): Buffer => deflateSync(Buffer.alloc(90_000_000), { level: 9 })
const frameControl = (i: number, side: number): Buffer =>
  chunk(
    'fcTL',
    Buffer.concat([be32(i), be32(side), be32(side), be32(0), be32(0), be16(1), be16(1), Buffer.from([0, 0])]),
  )

/** An animated PNG with full-size frames. */
function animatedPng(frames: number, side: number): Bytes {
  const before = [chunk('acTL', Buffer.concat([be32(frames), be32(0)])), frameControl(0, side)]
  const still = deflateSync(Buffer.alloc(side * (1 + side * 3)), { level: 9 }).subarray(0, 200)
  const after = times(frames - 1, (i) => [
    frameControl(2 * i + 1, side),
    chunk('fdAT', Buffer.concat([be32(2 * i + 2), still])),
  ]).flat()
  return png({ width: side, height: side, before, after })
}

export function pngBombs(): Record<string, Bytes> {
  const side = { width: 4_096, height: 4_096 }
  const profile = (data: Uint8Array) => chunk('iCCP', Buffer.concat([text('x\0\0'), data]))
  return {
    'PNG of 4,096², sixteen bits a channel': png({
      ...side,
      depth: 16,
      colour: 6,
      rows: Buffer.alloc(80_000_000),
    }),
    'PNG of 3,600², interlaced, filtered': png({ width: 3_600, height: 3_600, interlaced: true, filter: 4 }),
    'PNG with more data than pixels': png({ ...small, rows: Buffer.alloc(90_000_000) }),
    'PNG in pieces of two bytes': png({ width: 2_048, height: 2_048, cut: 2 }),
    'PNG with 8,000 empty chunks of data': png({
      ...small,
      after: times(8_000, () => chunk('IDAT', Buffer.alloc(0))),
    }),
    'PNG with 7,000 texts': png({ ...small, before: times(7_000, () => chunk('tEXt', text('a\0'))) }),
    'PNG with a text that inflates': png({
      ...small,
      before: [chunk('zTXt', Buffer.concat([text('a\0\0'), inflating()]))],
    }),
    'PNG with an international text that inflates': png({
      ...small,
      before: [chunk('iTXt', Buffer.concat([text('a\0\x01\0\0\0'), inflating()]))],
    }),
    'PNG with a profile that inflates': png({ ...small, before: [profile(inflating())] }),
    'PNG with a profile in a profile': png({
      ...small,
      before: [profile(deflateSync(profile(inflating())))],
    }),
    'PNG with colours beyond its palette': png({
      ...side,
      colour: 3,
      before: [chunk('PLTE', Buffer.from([1, 2, 3]))],
      rows: Buffer.alloc(4_096 * 4_097, 255),
    }),
    'PNG without its palette': png({ ...side, colour: 3 }),
    'PNG with 3,000 palettes': png({
      ...small,
      colour: 3,
      before: times(3_000, () => chunk('PLTE', Buffer.from([1, 2, 3]))),
    }),
    'PNG of 2³¹ pixels a side': png({ width: 2_147_483_647, height: 2_147_483_647, rows: Buffer.alloc(100) }),
    'PNG of 1 × 2³¹ pixels': png({ width: 1, height: 2_147_483_647, rows: Buffer.alloc(100) }),
    'animated PNG of 300 frames': animatedPng(120, 1_024),
    'PNG of 4,096² that ends in its data': png({ ...side, rows: Buffer.alloc(4_096 * 3 * 100) }),
  }
}
