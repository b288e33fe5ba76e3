/** Accepts screenshots in three encodings, decodes them, stores new PNGs, and serves them. */
import type { ServiceContext } from '#shared/service/context.ts'
import type { Screenshot } from '#shared/contracts/feedback.ts'
import { invalid, notFound } from '#shared/runtime/refusal.ts'
import { screenshotKey, SCREENSHOTS } from '#shared/stores/objects/pictures.ts'
import { answerPng } from '../png-answer.ts'
import { type Decoder, NOT_AN_IMAGE } from './decode-picture.ts'
import { formatOf } from './image-format.ts'

/** Finds the picture in a body: its first bytes decide, then the Content-Type. */
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

/**
 * Stores a screenshot under a random name.
 * @throws Refusal as `asPng`, and 429 for an address that has stored too much
 */
export async function uploadScreenshot(
  { objects, config, addressOf, kept }: ServiceContext,
  decoder: Decoder,
  bytes: Uint8Array<ArrayBuffer>,
  request: Request,
): Promise<Screenshot> {
  const address = addressOf(request)
  const picture = await pictureIn(bytes, request.headers.get('content-type') ?? '')
  const png = await decoder.asPng(picture, address)
  kept.charge('feedback-media', address, png.length)
  const filename = `${Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex')}.png`
  await objects.put(`${SCREENSHOTS}${filename}`, png, { contentType: 'image/png' })
  return { filename, url: `${config.publicUrl}/api/event/feedback-image/${filename}` }
}

/** A name is never reused, so its content never changes. */
const IMMUTABLE = 'public, max-age=31536000, immutable'

/** @throws Refusal 404 for an unknown name */
export async function serveScreenshot(
  { objects }: ServiceContext,
  request: Request,
  file: string,
): Promise<Response> {
  const key = screenshotKey(file)
  const stored = key === null ? null : await objects.get(key)
  if (stored === null) throw notFound('There is no screenshot with this name.')
  return answerPng(request, stored, IMMUTABLE)
}
