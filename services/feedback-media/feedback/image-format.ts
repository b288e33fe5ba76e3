/**
 * Detects a picture's format and whether it is complete. Decoders fill the missing part of a truncated picture with
 * grey.
 */

export type ImageFormat = 'png' | 'jpeg' | 'webp'

const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

const ascii = (bytes: Uint8Array, at: number, text: string): boolean =>
  Array.from(text).every((char, i) => bytes[at + i] === char.charCodeAt(0))

/** @returns the format according to the first bytes; null for an unknown one */
export function formatOf(bytes: Uint8Array): ImageFormat | null {
  if (PNG_SIGNATURE.every((byte, i) => bytes[i] === byte)) return 'png'
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return 'jpeg'
  if (ascii(bytes, 0, 'RIFF') && ascii(bytes, 8, 'WEBP')) return 'webp'
  return null
}

const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** A PNG is complete when its chunks lead to IEND. */
function pngIsWhole(bytes: Uint8Array): boolean {
  const data = view(bytes)
  let at = PNG_SIGNATURE.length
  while (at + 12 <= bytes.length) {
    if (ascii(bytes, at + 4, 'IEND')) return true
    at += 12 + data.getUint32(at)
  }
  return false
}

/** @returns the position of the next marker outside the scan's data; the length without one */
function endOfScan(bytes: Uint8Array, from: number): number {
  for (let at = from; at + 1 < bytes.length; at++) {
    const next = bytes[at + 1]!
    // After 0xff in a scan: 0x00 is a stuffed byte, 0xd0–0xd7 restart it, 0xff fills.
    if (bytes[at] === 0xff && next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at
  }
  return bytes.length
}

/**
 * A JPEG is complete when its segments and scans lead to the end marker. The end marker of a thumbnail does not
 * count.
 */
function jpegIsWhole(bytes: Uint8Array): boolean {
  const data = view(bytes)
  let at = 2
  while (at + 4 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1]!
    if (marker === 0xff) {
      at++
      continue
    }
    at += 2 + data.getUint16(at + 2)
    if (marker !== 0xda) continue
    at = endOfScan(bytes, at)
    if (bytes[at + 1] === 0xd9) return true
  }
  return false
}

/** A WebP starts with its length. */
const webpIsWhole = (bytes: Uint8Array): boolean => view(bytes).getUint32(4, true) + 8 <= bytes.length

const IS_WHOLE = { png: pngIsWhole, jpeg: jpegIsWhole, webp: webpIsWhole }

export const isWhole = (bytes: Uint8Array, format: ImageFormat): boolean =>
  bytes.length >= 16 && IS_WHOLE[format](bytes)

/** Chunks of the picture itself (PNG, third edition, 5.6); all others are metadata. */
const PICTURE_CHUNKS = ['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']

/** Removes metadata from a PNG: profile, text, time and place. */
export function withoutMetadata(png: Uint8Array): Uint8Array<ArrayBuffer> {
  const data = view(png)
  const parts = [png.subarray(0, PNG_SIGNATURE.length)]
  for (let at = PNG_SIGNATURE.length; at + 12 <= png.length;) {
    const end = at + 12 + data.getUint32(at)
    if (PICTURE_CHUNKS.some((type) => ascii(png, at + 4, type))) parts.push(png.subarray(at, end))
    at = end
  }
  return Buffer.concat(parts)
}
