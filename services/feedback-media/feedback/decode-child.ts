/** The decoder's child process: decodes an untrusted picture and encodes it as a PNG. */
import { setPriority } from 'node:os'
import { replyWith } from '#shared/runtime/child-reply.ts'
import { type ImageFormat, withoutMetadata } from './image-format.ts'

export interface DecodeOrder {
  readonly picture: Uint8Array<ArrayBuffer>
  readonly format: ImageFormat
  readonly maxPixels: number
  readonly maxSidePx: number
  /** Maximum bytes of the new picture; a larger one is scaled down. */
  readonly maxBytes: number
}

export type Decoded =
  | { readonly png: Uint8Array }
  | { readonly unreadable: true }
  | { readonly tooManyPixels: true }
  | { readonly tooLong: { readonly width: number; readonly height: number } }

async function decode({ picture, format, maxPixels, maxSidePx, maxBytes }: DecodeOrder): Promise<Decoded> {
  try {
    const image = new Bun.Image(picture, { maxPixels })
    const { width, height, format: seen } = await image.metadata()
    if (seen !== format) return { unreadable: true }
    if (width > maxSidePx || height > maxSidePx) return { tooLong: { width, height } }
    let png = withoutMetadata(await image.png().bytes())
    // A PNG of noise has the size of its pixels; a little less, because small pictures compress worse.
    for (let side = width; png.length > maxBytes;) {
      side = Math.max(1, Math.floor(side * 0.9 * Math.sqrt(maxBytes / png.length)))
      png = withoutMetadata(await image.resize(side).png().bytes())
    }
    return { png }
  } catch (error) {
    // The decoder reports unreadable pictures with codes of this kind.
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'ERR_IMAGE_TOO_MANY_PIXELS') return { tooManyPixels: true }
    if (code.startsWith('ERR_IMAGE_')) return { unreadable: true }
    throw error
  }
}

// Lower priority: cards and other answers come before pictures that are only stored.
setPriority(5)
replyWith(decode)
