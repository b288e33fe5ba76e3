/** The class of all errors that a client may see. Any other error is answered with 500 and no details. */
import { type ErrorCode, TEMPORARY_CODES } from '#shared/contracts/errors.ts'
import type { Window } from './config/config.ts'

export class Refusal extends Error {
  override name = 'Refusal'
  constructor(
    readonly httpStatus: number,
    /** Stable, kebab-case. Not named `code`: the router matches errors by that field. */
    readonly reason: ErrorCode,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
  }

  /** The same refusal with another message. */
  with(message: string): Refusal {
    return message === this.message ? this : new Refusal(this.httpStatus, this.reason, message, this.headers)
  }
}

export const invalid = (message: string) => new Refusal(400, 'invalid-request', message)
export const unauthorized = (message: string) => new Refusal(401, 'unauthorized', message)
export const forbidden = (message: string) => new Refusal(403, 'forbidden', message)
export const notFound = (message: string) => new Refusal(404, 'not-found', message)
export const gone = (message: string) => new Refusal(410, 'gone', message)
export const conflict = (message: string) => new Refusal(409, 'conflict', message)

/**
 * Rejects a change based on a value that another operator has changed meanwhile. A value that is already as requested
 * is no conflict.
 * @param seen the value the client saw; undefined: not given
 * @param now what has been changed and to what, as the beginning of a sentence
 * @throws Refusal 409
 */
export function expectSeen<T extends string | null>(
  seen: T | undefined,
  stored: T,
  next: T,
  now: string,
): void {
  if (seen !== undefined && seen !== stored && next !== stored)
    throw conflict(`${now} meanwhile. Nothing was changed.`)
}

/** 503: a dependency is unavailable. @param retryAfterS whole seconds */
export const unavailable = (message: string, retryAfterS = 5) =>
  new Refusal(503, 'unavailable', message, { 'Retry-After': String(retryAfterS) })

/** `Retry-After` for a temporary 503 that sets none. */
const RETRY_S = 30

/** 503 for refusals that a client may retry later (`TEMPORARY_CODES`), with their code and headers. */
export const temporaryAs503 = (error: unknown): unknown =>
  error instanceof Refusal && TEMPORARY_CODES.includes(error.reason)
    ? new Refusal(503, error.reason, error.message, { 'Retry-After': String(RETRY_S), ...error.headers })
    : error

/** 403 while the event is paused or after its end; `message` is the operators' message for pilgrims. */
export const notActive = (status: 'paused' | 'ended', message: string | null) =>
  new Refusal(
    403,
    status,
    message ||
      (status === 'paused'
        ? 'The event is paused: keep your points, they are taken when it goes on.'
        : 'The event has ended: nothing more is taken.'),
  )

/** 410 for a write by or about an erased person. */
export const erasedPerson = () =>
  new Refusal(
    410,
    'erased',
    'The data of this pilgrim were deleted, so nothing is stored. Agree to the privacy notice to start anew.',
  )

/** Headers of draft-ietf-httpapi-ratelimit-headers, and Retry-After in whole seconds, rounded up. */
const limitHeaders = (
  name: string,
  { max, windowMs }: Window,
  retryAfterMs: number,
): Record<string, string> => {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000))
  return {
    'Retry-After': String(seconds),
    RateLimit: `"${name}";r=0;t=${seconds}`,
    'RateLimit-Policy': `"${name}";q=${max};w=${Math.ceil(windowMs / 1_000)}`,
  }
}

/** 429 for a full window. */
export function rateLimited(name: string, window: Window, retryAfterMs: number): Refusal {
  const headers = limitHeaders(name, window, retryAfterMs)
  const seconds = headers['Retry-After']!
  const sentence = `Too many requests: at most ${window.max} in ${window.windowMs / 1_000} s. Try again in ${seconds} s.`
  return new Refusal(429, 'rate-limited', sentence, headers)
}
