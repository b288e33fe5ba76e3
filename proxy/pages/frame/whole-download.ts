/** Downloads of the service. One that failed midway ends with a line that says so, and is no file to save. */
import type { Answer } from '#shared/client/index.ts'

const BROKEN_OFF = '\nINCOMPLETE: '
const LONGEST_LINE = 200

/** @returns an error for a download that broke off at the service */
export async function wholeDownload<T extends { readonly blob: Blob }>(
  answer: Answer<T>,
): Promise<Answer<T>> {
  if (!answer.ok) return answer
  const end = await answer.data.blob.slice(-LONGEST_LINE).text()
  const at = end.lastIndexOf(BROKEN_OFF)
  return at < 0 ? answer : { ok: false, error: { status: 0, code: 'network', message: end.slice(at).trim() } }
}
