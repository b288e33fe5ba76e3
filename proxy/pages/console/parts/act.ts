/** Actions: their effect is read back from the service before they count as done. */
import type { Answer } from '#shared/client/index.ts'
import { showToast } from '../../design/toast.tsx'
import { reloadAll } from '../resource.ts'
import { refusalOf } from './panel.tsx'

const SHOWN_MS = 8_000

/**
 * Does something, reads the page again, and says what the service answered.
 * @returns the answer's data; null when it was refused, which is shown
 */
export async function act<T>(call: Promise<Answer<T>>, said?: (data: T) => string): Promise<T | null> {
  const answer = await call
  if (!answer.ok) {
    showToast(refusalOf(answer.error), { warning: true })
    return null
  }
  await reloadAll()
  if (said !== undefined) showToast(said(answer.data), { forMs: SHOWN_MS })
  return answer.data
}
