/** One request and what it resolves with. Errors are values: no call rejects. */
import type { ErrorCode } from './api.ts'

export type Answer<T> = Success<T> | Failure

export interface Success<T> {
  readonly ok: true
  /** HTTP status: 200, or 202 where the work continues after the answer. */
  readonly status: number
  readonly data: T
  /** Headers of the answer, such as `etag`. */
  readonly headers: Headers
}

export interface Failure {
  readonly ok: false
  readonly error: ClientError
}

/** The service's codes, and those of failures outside it: see `code` in the README. */
export type ClientErrorCode =
  | ErrorCode
  | 'network'
  | 'timeout'
  | 'aborted'
  | 'not-modified'
  | 'clock'
  | 'storage'
  | 'unexpected'

export interface ClientError {
  /** HTTP status; 0 without an answer. */
  readonly status: number
  /** Callers decide by this code, not by the message. */
  readonly code: ClientErrorCode
  /** A sentence for people. */
  readonly message: string
  /** Seconds that the service asks to wait. */
  readonly retryAfter?: number
  /** Identifies the request in support questions. */
  readonly requestId?: string
  /** The error of `fetch`, if there was no answer. */
  readonly cause?: unknown
  /** The JSON of the refusal, if an endpoint adds details to the message. */
  readonly body?: unknown
}

export const failure = (
  code: ClientErrorCode,
  message: string,
  more?: Partial<Pick<ClientError, 'status' | 'cause'>>,
): Failure => ({ ok: false, error: { status: 0, code, message, ...more } })

/** A longer wait is a mistake, and timers are limited to 24 days. */
const LONGEST_S = 86_400
/** Maximum wait of a refusal without one of the service's codes: an intermediary has answered. */
const LONGEST_OF_OTHERS_S = 300

export async function readRefusal(response: Response): Promise<Failure> {
  const { status, headers } = response
  if (status === 304) return failure('not-modified', 'Nothing has changed.', { status })
  const body: Partial<Record<'error' | 'code' | 'request_id', string>> | undefined = parse(
    await response.text(),
  )
  const seconds = Number(headers.get('retry-after') ?? NaN)
  const requestId = body?.request_id ?? headers.get('x-request-id')
  return {
    ok: false,
    error: {
      status,
      code: (body?.code ?? 'unexpected') as ClientErrorCode,
      message: body?.error ?? `The service answered ${status}.`,
      ...(seconds >= 0
        ? { retryAfter: Math.min(seconds, body?.code === undefined ? LONGEST_OF_OTHERS_S : LONGEST_S) }
        : {}),
      ...(requestId ? { requestId } : {}),
      ...(body ? { body } : {}),
    },
  }
}

/** Reads a success. @param form `envelope`: `data` of a JSON envelope; `json`: JSON as it is */
export async function readSuccess<T>(
  response: Response,
  form: 'envelope' | 'json' | 'text' | 'blob',
): Promise<Answer<T>> {
  const { status, headers } = response
  const success = (data: unknown): Answer<T> => ({ ok: true, status, data: data as T, headers })
  if (form === 'blob') return success(await response.blob())
  const text = await response.text()
  if (form === 'text') return success(text)
  const body: { readonly ok?: unknown; readonly data?: unknown } | undefined = parse(text)
  if (body && form === 'json') return success(body)
  if (body?.ok === true && 'data' in body) return success(body.data)
  // The sign-in page of a hotel's network also answers 200.
  return failure('unexpected', 'The service has not answered.', { status })
}

function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    // Proxies and sign-in pages answer with HTML. The caller gets "unexpected".
    return undefined
  }
}

// One request and its answer, with a time limit over both.

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

interface ExchangeLimits {
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

const SENTENCES: Record<string, string> = {
  timeout: 'The service did not answer in time.',
  aborted: 'It was aborted.',
}

/** Node says "fetch failed", and the reason in the cause: an untrusted certificate, or a code such as ECONNREFUSED. */
const innermost = (error: unknown): string => {
  const { cause, message, code } = error as { cause?: unknown; message?: string; code?: string }
  return cause ? innermost(cause) : message || String(code ?? error)
}

/**
 * Sends a request and reads its answer. Never rejects: a failure has the code `network`, `timeout` or `aborted`.
 * @param read reads the answer; the timeout covers it, too
 */
export async function exchange<T>(
  send: Fetch,
  url: string,
  init: RequestInit,
  { timeoutMs, signal }: ExchangeLimits,
  read: (response: Response) => T | Promise<T>,
): Promise<T | Failure> {
  // Not AbortSignal.any and AbortSignal.timeout: many phones on a walk do not support these.
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
    return failure(code, sentence, { cause: error })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
  }
}
