/** Generated pictures, valid and invalid ones. */
import { crc32, deflateSync, inflateSync } from 'node:zlib'

type Bytes = Uint8Array<ArrayBuffer>

/** A chunk of a PNG. */
export const chunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const out = Buffer.alloc(body.length + 8)
  out.writeUInt32BE(data.length, 0)
  body.copy(out, 4)
  out.writeUInt32BE(crc32(body), body.length + 4)
  return out
}

/** A PNG with a red left half and a blue right half; `extra` chunks precede the picture. */
export function png(width: number, height: number, extra: readonly Buffer[] = []): Bytes {
  const row = Buffer.alloc(1 + width * 3)
  for (let x = 0; x < width; x++) row.set(x < width / 2 ? [255, 0, 0] : [0, 0, 255], 1 + x * 3)
  return pngOf(width, height, Buffer.concat(Array.from({ length: height }, () => row)), extra)
}

/** A PNG of rows of pixels: a filter byte each, then red, green and blue. */
export function pngOf(width: number, height: number, rows: Buffer, extra: readonly Buffer[] = []): Bytes {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const pixels = deflateSync(rows, { level: 9 })
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return new Uint8Array(
    Buffer.concat([
      signature,
      chunk('IHDR', header),
      ...extra,
      chunk('IDAT', pixels),
      chunk('IEND', Buffer.alloc(0)),
    ]),
  )
}

/** A square of soft random colours: WebP stores them in one hundredth of what PNG needs. */
export async function smoothNoise(side: number): Promise<Bytes> {
  const few = 40
  const rows = Buffer.alloc(few * (1 + few * 3))
  let seed = 7
  for (let i = 0; i < rows.length; i++) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    rows[i] = i % (1 + few * 3) === 0 ? 0 : seed >> 16
  }
  const small = pngOf(few, few, rows)
  const image = new Bun.Image(small).resize(side, side)
  return new Uint8Array(await image.webp({ quality: 20 }).bytes())
}

/** A text chunk, as cameras and programs write it. */
export const textChunk = (text: string): Buffer => chunk('tEXt', Buffer.from(`Comment\0${text}`, 'latin1'))

/** A PNG that declares a size but has no pixels. */
export function claiming(width: number, height: number): Bytes {
  const bytes = Buffer.from(png(8, 8))
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29)
  return new Uint8Array(bytes)
}

export const jpeg = async (width: number, height: number): Promise<Bytes> =>
  new Uint8Array(await new Bun.Image(png(width, height)).jpeg({ quality: 95 }).bytes())

export const webp = async (width: number, height: number): Promise<Bytes> =>
  new Uint8Array(await new Bun.Image(png(width, height)).webp({ lossless: true }).bytes())

/** Adds an EXIF segment to a JPEG: an orientation (1 to 8), a position, and a thumbnail with an end marker. */
export function withExif(picture: Bytes, orientation: number): Bytes {
  const tiff = Buffer.from('4d4d002a0000000800010112000300000001000000000000000000000000', 'hex').subarray(
    0,
    26,
  )
  tiff[19] = orientation
  const body = Buffer.concat([
    Buffer.from('Exif\0\0'),
    tiff,
    Buffer.from('GPS 24.15 120.67'),
    Buffer.from([0xff, 0xd9]),
  ])
  const head = Buffer.from([0xff, 0xe1, 0, 0])
  head.writeUInt16BE(body.length + 2, 2)
  return new Uint8Array(Buffer.concat([picture.subarray(0, 2), head, body, picture.subarray(2)]))
}

/** A PNG of exactly this many bytes. */
export function ofBytes(size: number): Bytes {
  const least = png(16, 16, [textChunk('')]).length
  const picture = png(16, 16, [textChunk('x'.repeat(size - least))])
  if (picture.length !== size) throw new Error(`made ${picture.length} bytes instead of ${size}`)
  return picture
}

/** The colours in the middle of the left, right, top and bottom edges. */
export async function edges(picture: Bytes): Promise<Record<'left' | 'right' | 'top' | 'bottom', string>> {
  const image = new Bun.Image(picture)
  const { width, height } = await image.metadata()
  const pixel = rgbOf(picture, width, height)
  const at = (x: number, y: number): string => {
    const [r, g, b] = pixel(x, y)
    return r > 200 && b < 80 && g < 80 ? 'red' : b > 200 && r < 80 && g < 80 ? 'blue' : `${r},${g},${b}`
  }
  const [x, y] = [width >> 1, height >> 1]
  return { left: at(2, y), right: at(width - 3, y), top: at(x - 2, 2), bottom: at(x - 2, height - 3) }
}

/** Reads the pixels of a PNG with 8 bits per channel. */
function rgbOf(picture: Bytes, width: number, height: number) {
  const bytes = Buffer.from(picture)
  const data: Buffer[] = []
  for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at))
    if (bytes.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)))
  const channels = { 2: 3, 6: 4 }[bytes[25]!]!
  const raw = inflateSync(Buffer.concat(data))
  const stride = width * channels
  const pixels = Buffer.alloc(stride * height)
  for (let y = 0; y < height; y++) unfilter(raw, pixels, y, stride, channels)
  return (x: number, y: number): [number, number, number] => {
    const at = y * stride + x * channels
    return [pixels[at]!, pixels[at + 1]!, pixels[at + 2]!]
  }
}

/** Undoes the filter of one row (PNG, third edition, 9.2). */
function unfilter(raw: Buffer, pixels: Buffer, y: number, stride: number, channels: number): void {
  const filter = raw[y * (stride + 1)]!
  for (let x = 0; x < stride; x++) {
    const left = x < channels ? 0 : pixels[y * stride + x - channels]!
    const up = y === 0 ? 0 : pixels[(y - 1) * stride + x]!
    const corner = x < channels || y === 0 ? 0 : pixels[(y - 1) * stride + x - channels]!
    const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]!
    pixels[y * stride + x] = (raw[y * (stride + 1) + 1 + x]! + guess) & 255
  }
}

function paeth(left: number, up: number, corner: number): number {
  const p = left + up - corner
  const [a, b, c] = [Math.abs(p - left), Math.abs(p - up), Math.abs(p - corner)]
  return a <= b && a <= c ? left : b <= c ? up : corner
}
