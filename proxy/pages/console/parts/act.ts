/** Actions: their effect is read back from the service before they count as done. */
import type { Answer, ClientError } from '#shared/client/index.ts'
import { showToast, type ToastOptions } from '../../design/toast.tsx'
import { reloadAll } from '../resource.ts'
import { refusalOf } from './panel.tsx'

const SHOWN_MS = 8_000

/** Shows why something was refused. Of the limit of calls it counts the seconds, and goes when they are over. */
export function warn(error: ClientError, sentence: (error: ClientError) => string): void {
  // The session has ended, and the page to sign in says so.
  if (error.status === 401) return
  const forMs = (error.retryAfter ?? 0) * 1_000
  if (error.status === 429 && forMs > 0) showToast(() => sentence(error), { warning: true, forMs })
  else showToast(sentence(error), { warning: true })
}

/**
 * Does something, reads the page again, and says what the service answered.
 * @param more what the operator may do about it afterwards
 * @returns the answer's data; null when it was refused, which is shown
 */
export async function act<T>(
  call: Promise<Answer<T>>,
  said?: (data: T) => string,
  more: Pick<ToastOptions, 'action' | 'group'> = {},
): Promise<T | null> {
  const answer = await call
  if (!answer.ok) {
    warn(answer.error, refusalOf)
    return null
  }
  await reloadAll()
  if (said !== undefined) {
    showToast(said(answer.data), { forMs: SHOWN_MS, ...more })
  }
  return answer.data
}
