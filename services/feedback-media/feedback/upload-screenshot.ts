/** Screenshots: taken in any of three wrappings, decoded, and stored as a PNG that is ours. */
import type { BoundedQueue } from '#shared/runtime/bounded-queue.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { Screenshot } from '#shared/contracts/feedback.ts'
import { invalid } from '#shared/http/errors.ts'
import { formatOf, type ImageFormat, isWhole, withoutMetadata } from '../image-format.ts'

const MAX_SIDE_PX = 4_096
const MAX_PIXELS = 20_000_000

const NOT_AN_IMAGE = 'image: is not a whole PNG, JPEG or WebP picture'

/** Finds the picture in a body: its own bytes say first what it is, then the Content-Type. */
async function pictureIn(
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string,
): Promise<Uint8Array<ArrayBuffer>> {
  if (formatOf(bytes) !== null) return bytes
  if (/^multipart\/form-data\b/i.test(contentType)) return pictureOfForm(bytes, contentType)
  return pictureOfJson(bytes)
}

async function pictureOfForm(bytes: Uint8Array<ArrayBuffer>, contentType: string) {
  let form: FormData
  try {
    form = await new Response(bytes, { headers: { 'Content-Type': contentType } }).formData()
  } catch {
    throw invalid('body: is not valid multipart/form-data')
  }
  const files = [form.get('file'), ...form.values()]
  const file = files.find((value) => value !== null && typeof value !== 'string')
  if (file === undefined || file === null || typeof file === 'string')
    throw invalid('file: the form has no file; send the picture in the field "file"')
  return new Uint8Array(await file.arrayBuffer())
}

function pictureOfJson(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  let body: unknown
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw invalid(NOT_AN_IMAGE)
  }
  const image = typeof body === 'object' && body !== null && 'image' in body ? body.image : undefined
  if (typeof image !== 'string') throw invalid('image: must be the picture as base64 or as a data URL')
  const base64 = image.replace(/^data:[^,]*;base64,/i, '').replaceAll(/\s/g, '')
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(base64)) throw invalid('image: is not valid base64')
  return new Uint8Array(Buffer.from(base64, 'base64'))
}

/** Decodes and encodes anew: what comes out was written by us. */
async function asPng(
  picture: Uint8Array<ArrayBuffer>,
  format: ImageFormat,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const image = new Bun.Image(picture, { maxPixels: MAX_PIXELS })
    const { width, height, format: seen } = await image.metadata()
    if (seen !== format) throw invalid(NOT_AN_IMAGE)
    if (width > MAX_SIDE_PX || height > MAX_SIDE_PX)
      throw invalid(`image: is ${width} × ${height} pixels; at most ${MAX_SIDE_PX} a side are taken`)
    return withoutMetadata(await image.png().bytes())
  } catch (error) {
    // Whatever the decoder cannot read, it names by a code of this kind.
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'ERR_IMAGE_TOO_MANY_PIXELS')
      throw invalid(`image: has more than ${MAX_PIXELS / 1e6} million pixels`)
    if (code.startsWith('ERR_IMAGE_')) throw invalid(NOT_AN_IMAGE)
    throw error
  }
}

/**
 * Stores a screenshot under a name that nobody can guess.
 * @param decoding bounds how many are decoded at once: a small file may hold a large picture
 * @throws Refusal 400 for what is not a whole picture of an allowed kind and size; 503 when too many wait
 */
export async function uploadScreenshot(
  { objects, config }: ServiceContext,
  decoding: BoundedQueue,
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string,
): Promise<Screenshot> {
  const picture = await pictureIn(bytes, contentType)
  const format = formatOf(picture)
  if (format === null || !isWhole(picture, format)) throw invalid(NOT_AN_IMAGE)
  const png = await decoding.run(() => asPng(picture, format))
  const filename = `${Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex')}.png`
  await objects.put(`screenshots/${filename}`, png, { contentType: 'image/png' })
  return { filename, url: `${config.publicUrl}/api/event/feedback-image/${filename}` }
}
