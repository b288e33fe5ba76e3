/** A phone that calls the service: it repeats what failed for a while. */
import type { Profile } from '#shared/contracts/profile.ts'
import type { CheckInAnswer, TrackSyncAnswer } from '#shared/contracts/tracking.ts'
import type { Answer, ClientError } from '#shared/client/answer.ts'
import { isTemporary } from '#shared/client/request-backoff.ts'
import { createClient } from '#shared/client/create-client.ts'
import { ReplayFault } from './replay-error.ts'
import type { Step } from './plan-requests.ts'

export interface Phone {
  /** Each call resolves with the service's answer, and throws ReplayFault for a permanent refusal. */
  checkIn(body: Extract<Step, { kind: 'check-in' }>['body']): Promise<CheckInAnswer>
  sync(body: Extract<Step, { kind: 'sync' }>['body']): Promise<TrackSyncAnswer>
  profile(userId: string): Promise<Profile>
}

export interface PhoneSettings {
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

export function createPhone({ url, tls, tries, wait }: PhoneSettings): Phone {
  const client = createClient({
    baseUrl: url,
    timeoutMs: ANSWER_MS,
    fetch: (address, init) => fetch(address, { ...init, tls, redirect: 'manual' }),
  })
  async function ask<T>(call: () => Promise<Answer<T>>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const answer = await call()
      if (answer.ok) return answer.data
      const refusal = refusalOf(url, answer.error)
      if (!refusal.passing) throw new ReplayFault(refusal.sentence)
      if (attempt >= tries) throw new ReplayFault(`Given up after ${attempt} tries. ${refusal.sentence}`)
      await wait(refusal.afterMs ?? backoffMs(attempt), refusal.sentence)
    }
  }
  return {
    checkIn: (body) => ask(() => client.checkIn(body)),
    sync: ({ user_id, points }) => ask(() => client.syncTrack({ user_id, points: [...points] })),
    profile: (userId) => ask(() => client.readProfile({ userId })),
  }
}

/** A refusal or a failure. Temporary ones (`passing`) are retried after the time that the service requested. */
export interface Refusal {
  readonly passing: boolean
  readonly afterMs: number | null
  readonly sentence: string
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

/** Classifies what a call failed with. */
export function refusalOf(url: string, error: ClientError): Refusal {
  if (error.status === 0)
    return failureOf(url, error.code === 'network' ? error.cause : { message: error.message })
  const { status, code, requestId, retryAfter } = error
  if (status === 200)
    return permanent(`${url} does not answer as this service does: ${error.message} Check --url.`)
  const isOurs = error.body !== undefined
  const said = isOurs ? error.message : 'no reason given'
  const sentence = `The service answers ${status}: ${said.replace(/[.\s]*$/, '.')}`
  if (isTemporary(error)) {
    // A wait of no second would be a loop.
    const afterMs = retryAfter === undefined ? null : Math.max(1, retryAfter) * 1_000
    return { passing: true, afterMs, sentence }
  }
  const advice = isOurs ? ADVICE[code] : 'Check --url.'
  return permanent(
    sentence +
      (advice === undefined ? '' : ` ${advice}`) +
      (requestId === undefined ? '' : ` (request ${requestId})`),
  )
}

const permanent = (sentence: string): Refusal => ({ passing: false, afterMs: null, sentence })

/** Classifies an error of `fetch`: certificate errors are permanent, connection errors temporary. */
export function failureOf(url: string, error: unknown): Refusal {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  if (/CERT|VERIFY|HOSTNAME/.test(String(code)))
    return permanent(
      `The certificate of ${url} is not trusted (${String(message)}). Name its authority with --ca <file>; ` +
        `the embedded run keeps its own in <data directory>/tls/cert.pem. For a rehearsal only: --insecure.`,
    )
  const sentence =
    code === 'ECONNREFUSED'
      ? `Nothing listens at ${url}. Start the service there (bun start), or check --url.`
      : `No answer from ${url} (${String(message)}). Check --url and the network.`
  return { passing: true, afterMs: null, sentence }
}
