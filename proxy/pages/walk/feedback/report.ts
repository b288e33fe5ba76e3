/** A report of a problem or an idea. It is written on the device until it has arrived. */
import { signal } from '@preact/signals'
import type { ClientError } from '#shared/client/index.ts'
import { keep, kept } from '../session/kept.ts'
import { client, noteError } from '../session/service.ts'
import { beginPlace, place, placeInfo } from './place.ts'
import { smallPicture } from './small-picture.ts'

export const written = kept('walk-feedback', { category: '', text: '' })
export const picture = signal<File | null>(null)
export const sending = signal(false)
/** What the pilgrim is told: the category or words are missing, the picture can not be read, or the service refuses. */
export const fault = signal<'category' | 'missing' | 'picture' | ClientError | null>(null)
/** The report that has arrived. */
export const arrived = signal<{
  readonly number: number
  readonly withPicture: boolean
  readonly withPlace: boolean
} | null>(null)

/** Forgets what was said about the last report. */
export function beginReport(): void {
  fault.value = null
  arrived.value = null
  picture.value = null
  void beginPlace(written.value.text !== '')
}

/** Keeps what is written. What was said to be missing is no longer said once it is there. */
export function write(change: Partial<typeof written.value>): void {
  const next = { ...written.value, ...change }
  keep(written, next)
  if (fault.value === 'category' && next.category !== '') fault.value = null
  if (fault.value === 'missing' && next.text.trim() !== '') fault.value = null
}

/** A report has one picture: another one replaces it. */
export function givePicture(file: File | null): void {
  picture.value = file
  if (fault.value === 'picture') fault.value = null
}

export async function sendReport(): Promise<void> {
  const { category, text } = written.value
  fault.value = category === '' ? 'category' : text.trim() === '' ? 'missing' : null
  if (fault.value !== null || sending.value) return
  sending.value = true
  const withPicture = picture.value !== null
  const carried = await placeInfo()
  const sent = await send(category, text, carried)
  sending.value = false
  if (typeof sent === 'number') {
    keep(written, { category: '', text: '' })
    keep(place, null)
    arrived.value = { number: sent, withPicture, withPlace: 'device_info' in carried }
    return
  }
  fault.value = sent
  if (sent !== 'picture') noteError(sent)
}

async function send(
  category: string,
  text: string,
  carried: Awaited<ReturnType<typeof placeInfo>>,
): Promise<number | 'picture' | ClientError> {
  const file = picture.value
  const small = file && (await smallPicture(file))
  if (file !== null && small === null) return 'picture'
  const uploaded = small && (await client.uploadScreenshot({ body: small }))
  if (uploaded?.ok === false)
    return uploaded.error.code === 'invalid-request' || uploaded.error.status === 413
      ? 'picture'
      : uploaded.error
  const answer = await client.submitFeedback({
    category,
    description: text,
    user_agent: navigator.userAgent.slice(0, 400),
    ...carried,
    ...(uploaded === null ? {} : { screenshot_url: uploaded.data.url }),
  })
  return answer.ok ? answer.data.id : answer.error
}
