/** The decoder's child process: reads a picture that a stranger sent, and writes it anew as a PNG. */
import { setPriority } from 'node:os'
import { replyWith } from '#shared/child-process/reply.ts'
import { type ImageFormat, withoutMetadata } from './image-format.ts'

export interface DecodeOrder {
  readonly picture: Uint8Array<ArrayBuffer>
  /** The format that its first bytes announce. */
  readonly format: ImageFormat
  readonly maxPixels: number
  readonly maxSidePx: number
}

/** The new picture, or why there is none. */
export type Decoded =
  | { readonly png: Uint8Array }
  | { readonly unreadable: true }
  | { readonly tooManyPixels: true }
  | { readonly tooLong: { readonly width: number; readonly height: number } }

async function decode({ picture, format, maxPixels, maxSidePx }: DecodeOrder): Promise<Decoded> {
  try {
    const image = new Bun.Image(picture, { maxPixels })
    const { width, height, format: seen } = await image.metadata()
    if (seen !== format) return { unreadable: true }
    if (width > maxSidePx || height > maxSidePx) return { tooLong: { width, height } }
    return { png: withoutMetadata(await image.png().bytes()) }
  } catch (error) {
    // Whatever the decoder cannot read, it names by a code of this kind.
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'ERR_IMAGE_TOO_MANY_PIXELS') return { tooManyPixels: true }
    if (code.startsWith('ERR_IMAGE_')) return { unreadable: true }
    throw error
  }
}

// Whoever waits for a card, or for anything else, comes before a picture that is only put away.
setPriority(5)
replyWith(decode)
