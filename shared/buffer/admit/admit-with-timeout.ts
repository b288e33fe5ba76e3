/** Admission by the kv: in batches, with a known status, and with a timeout. */
import { within } from '#shared/runtime/deadline.ts'
import { unavailable } from '#shared/http/errors.ts'
import {
  type AdmissionRules,
  type Kv,
  KvFull,
  isKvUnavailable,
  type Submission,
  type Verdict,
  type VersionedStatus,
} from '#shared/kv/kv.ts'
import { createBatcher } from './batcher.ts'

/** Resolves with the kv's verdict; rejects with `KvUnavailable` or `KvFull`. */
export type Admit = (submission: Submission) => Promise<Verdict>

/** Timeout of the kv for requests that are never journaled. */
const REQUEST_TIMEOUT_MS = 2_000

const ACTIVE: VersionedStatus = { status: 'active', version: 0, message: null }

export const storeUnavailable = () =>
  unavailable('The short-term store is unavailable at the moment. Keep your points and send them again.')
export const storeFull = () =>
  unavailable('The short-term store is nearly full. Keep your points and send them later.', 60)

/**
 * @param prime reads the status from the database and writes it to the kv; called when the kv has none
 * @param learn called with the status that each verdict implies; null: the kv has lost it, and no older one is valid
 */
export function createAdmitWithTimeout(
  kv: Kv,
  rules: AdmissionRules,
  prime: () => Promise<VersionedStatus>,
  learn: (status: VersionedStatus | null) => void = () => undefined,
): Admit {
  const submit = createBatcher(kv, rules)
  let priming: Promise<VersionedStatus> | null = null
  return async (submission) => {
    let verdict = await submit(submission)
    if (verdict.outcome === 'unknown') {
      learn(null)
      priming ??= prime().finally(() => (priming = null))
      learn(await priming)
      verdict = await submit(submission)
    }
    if (verdict.outcome === 'admitted') learn(ACTIVE)
    if (verdict.outcome === 'refused') learn({ ...verdict, version: 0 })
    return verdict
  }
}

/**
 * Resolves after the answers that have already arrived were read. When the event loop stood still, timers run before
 * sockets, and a kv that answered in time would seem late.
 */
const afterSockets = (): Promise<'late'> =>
  new Promise((resolve) => setImmediate(() => setImmediate(resolve, 'late')))

/**
 * Returns the kv's verdict; `unavailable` when the kv is unavailable, and `late` when it has not answered in time.
 * @throws Refusal 503 when the kv is full
 */
export async function answerWithin(
  call: Promise<Verdict>,
  ms: number,
): Promise<Verdict | 'unavailable' | 'late'> {
  try {
    return await within(call, ms, () => Promise.race([call, afterSockets()]))
  } catch (error) {
    if (error instanceof KvFull) throw storeFull()
    if (!isKvUnavailable(error)) throw error
    return 'unavailable'
  }
}

/** Admits a submission that the phone keeps until it is confirmed. @throws Refusal 503 when the kv is unavailable */
export async function admitOrThrow(admit: Admit, submission: Submission): Promise<Verdict> {
  const answer = await answerWithin(admit(submission), REQUEST_TIMEOUT_MS)
  if (answer === 'unavailable' || answer === 'late') throw storeUnavailable()
  return answer
}
