/** One request and its answer, with a time limit over both. */
import { type ClientErrorCode, type Failure, failure } from './answer.ts'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

interface Limits {
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

const SENTENCES: Record<string, string> = {
  timeout: 'The service did not answer in time.',
  aborted: 'The request was cancelled.',
}

/** Node says "fetch failed", and the reason in the cause: an untrusted certificate, or a code such as ECONNREFUSED. */
const innermost = (error: unknown): string => {
  const { cause, message, code } = error as { cause?: unknown; message?: string; code?: string }
  return cause ? innermost(cause) : message || String(code ?? error)
}

/**
 * Never rejects: a failure has the code `network`, `timeout` or `aborted`.
 * @param read reads the answer; the time limit holds for it, too
 */
export async function exchange<T>(
  send: Fetch,
  url: string,
  init: RequestInit,
  { timeoutMs, signal }: Limits,
  read: (response: Response) => T | Promise<T>,
): Promise<T | Failure> {
  // Not AbortSignal.any and AbortSignal.timeout: many phones on a walk are older than these.
  const controller = new AbortController()
  let code: ClientErrorCode = 'network'
  const abort = (why: ClientErrorCode) => {
    code = why
    controller.abort()
  }
  const cancel = () => abort('aborted')
  if (signal?.aborted) cancel()
  signal?.addEventListener('abort', cancel)
  const timer = setTimeout(() => abort('timeout'), timeoutMs)
  try {
    return await read(await send(url, { ...init, signal: controller.signal }))
  } catch (error) {
    const sentence = SENTENCES[code] ?? `The service cannot be reached (${innermost(error)}).`
    return { ok: false, error: { ...failure(code, sentence).error, cause: error } }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
  }
}
