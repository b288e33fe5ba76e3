/** A client that calls the service like a phone: it retries temporary refusals and broken connections. */
import { z } from 'zod'
import { ErrorBody } from '#shared/contracts/errors.ts'
import { type Profile, profileEndpoint } from '#shared/contracts/profile.ts'
import {
  type CheckInAnswer,
  checkInEndpoint,
  type TrackSyncAnswer,
  trackSyncEndpoint,
} from '#shared/contracts/tracking.ts'
import { ReplayFault } from './replay-error.ts'
import type { Step } from './plan-requests.ts'

export interface Client {
  /** Each call resolves with the service's answer, and throws ReplayFault for a permanent refusal. */
  checkIn(body: Extract<Step, { kind: 'check-in' }>['body']): Promise<CheckInAnswer>
  sync(body: Extract<Step, { kind: 'sync' }>['body']): Promise<TrackSyncAnswer>
  profile(userId: string): Promise<Profile>
}

export interface ClientSettings {
  /** Origin and base path, without a trailing slash. */
  readonly url: string
  readonly tls: Bun.TLSOptions
  /** Maximum attempts per request. Retries are safe, because the service counts a point once. */
  readonly tries: number
  /** Waits and shows the reason. */
  readonly wait: (ms: number, why: string) => Promise<void>
}

/** Timeout of a request; longer than the timeout of the proxy. */
const ANSWER_MS = 30_000

export function createClient({ url, tls, tries, wait }: ClientSettings): Client {
  async function ask<T>(
    method: 'GET' | 'POST',
    path: string,
    body: object | null,
    data: z.ZodType<T>,
  ): Promise<T> {
    const init = {
      method,
      tls,
      ...(body === null
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    }
    for (let attempt = 1; ; attempt++) {
      const outcome = await exchange(url, path, init)
      if ('answer' in outcome) return read(url + path, outcome.answer, data)
      if (!outcome.passing) throw new ReplayFault(outcome.sentence)
      if (attempt >= tries) throw new ReplayFault(`Given up after ${attempt} tries. ${outcome.sentence}`)
      await wait(outcome.afterMs ?? backoffMs(attempt), outcome.sentence)
    }
  }

  return {
    checkIn: (body) => ask('POST', checkInEndpoint.path, body, checkInEndpoint.data),
    sync: (body) => ask('POST', trackSyncEndpoint.path, body, trackSyncEndpoint.data),
    profile: (userId) =>
      ask(
        'GET',
        profileEndpoint.path.replace(':userId', encodeURIComponent(userId)),
        null,
        profileEndpoint.data,
      ),
  }
}

/** A refusal or a failure. Temporary ones (`passing`) are retried after the time that the service requested. */
export interface Refusal {
  readonly passing: boolean
  readonly afterMs: number | null
  readonly sentence: string
}

async function exchange(
  url: string,
  path: string,
  init: BunFetchRequestInit,
): Promise<{ readonly answer: string } | Refusal> {
  try {
    const response = await fetch(url + path, {
      ...init,
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    const text = await response.text()
    return response.ok ? { answer: text } : refusalOf(response, text)
  } catch (error) {
    return failureOf(url, error)
  }
}

/** Back-off: 1 s, doubled with each attempt, at most 30 s. */
export const backoffMs = (attempt: number): number => Math.min(30_000, 1_000 * 2 ** (attempt - 1))

/** Advice for a refusal, by its code. */
const ADVICE: Record<string, string> = {
  paused: 'Resume the event, or wait until it is resumed.',
  ended: 'An ended event takes no more points: rehearse on a run of its own.',
  unauthorized: 'The service verifies who calls: replay works where EVENT_IDENTITY is open.',
  forbidden: 'The service verifies who calls: replay works where EVENT_IDENTITY is open.',
  'not-found': 'Check --url and --user.',
  'too-large': 'Send fewer points in a request: --batch 100.',
  'invalid-request': 'If it is about the time: --ends or --keep-time puts the track elsewhere.',
}

/** Classifies a refusal: 429 and 5xx are temporary, all others permanent. */
export function refusalOf(response: Response, text: string): Refusal {
  const body = ErrorBody.partial({ code: true }).safeParse(parseJson(text))
  const said = body.success ? body.data.error : 'no reason given'
  const advice = body.success ? ADVICE[body.data.code ?? ''] : 'Check --url.'
  const id = response.headers.get('x-request-id')
  const passing = response.status === 429 || response.status >= 500
  return {
    passing,
    afterMs: secondsOf(response.headers.get('retry-after')),
    sentence:
      `The service answers ${response.status}: ${said.replace(/[.\s]*$/, '.')}` +
      (passing || advice === undefined ? '' : ` ${advice}`) +
      (passing || id === null ? '' : ` (request ${id})`),
  }
}

/** `Retry-After` in milliseconds; this API uses only the form in seconds. */
const secondsOf = (header: string | null): number | null =>
  header !== null && /^\d{1,6}$/.test(header) ? Math.max(1, Number(header)) * 1_000 : null

/** Classifies an error of `fetch`: certificate errors are permanent, connection errors temporary. */
export function failureOf(url: string, error: unknown): Refusal {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  if (/CERT|VERIFY|HOSTNAME/.test(String(code))) {
    return {
      passing: false,
      afterMs: null,
      sentence:
        `The certificate of ${url} is not trusted (${String(message)}). Name its authority with --ca <file>; ` +
        `the embedded run keeps its own in <data directory>/tls/cert.pem. For a rehearsal only: --insecure.`,
    }
  }
  const sentence =
    code === 'ECONNREFUSED'
      ? `Nothing listens at ${url}. Start the service there (bun start), or check --url.`
      : `No answer from ${url} (${String(message)}). Check --url and the network.`
  return { passing: true, afterMs: null, sentence }
}

function read<T>(address: string, text: string, data: z.ZodType<T>): T {
  const envelope = z.object({ ok: z.literal(true), data }).safeParse(parseJson(text))
  if (!envelope.success) {
    throw new ReplayFault(
      `${address} does not answer as this service does. Check --url.\n${z.prettifyError(envelope.error)}`,
    )
  }
  return envelope.data.data
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The contract rejects the value, because every answer of this service is JSON.
    return undefined
  }
}
