/** Asking the kv to admit: by turns, with a status, and with patience for so long. */
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

/** Resolves with the kv's verdict; rejects with `KvUnavailable` or `KvFull` where it has none to give. */
export type Ask = (submission: Submission) => Promise<Verdict>

/** How long a request that may not be journaled waits for the kv. */
const REQUEST_TIMEOUT_MS = 2_000

const ACTIVE: VersionedStatus = { status: 'active', version: 0, message: null }

export const storeUnavailable = () =>
  unavailable('The short-term store is not reachable just now: keep your points and send them again.')
export const storeFull = () =>
  unavailable('The short-term store is nearly full: keep your points and send them later.', 60)

/**
 * @param prime reads the status from the database and brings it to the kv; called when the kv has none
 * @param learn told the status that each answer implies; null: the kv has lost it, and nobody may go by an older one
 */
export function createAdmitWithTimeout(
  kv: Kv,
  rules: AdmissionRules,
  prime: () => Promise<VersionedStatus>,
  learn: (status: VersionedStatus | null) => void = () => undefined,
): Ask {
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
 * The kv's answer, or `away` when it has none to give, or `late` when it has not given it yet.
 * @throws Refusal 503 when the kv is full
 */
export async function answerWithin(asked: Promise<Verdict>, ms: number): Promise<Verdict | 'away' | 'late'> {
  try {
    return await within(asked, ms, () => 'late' as const)
  } catch (error) {
    if (error instanceof KvFull) throw storeFull()
    if (!isKvUnavailable(error)) throw error
    return 'away'
  }
}

/** Admits what the phone keeps when the kv does not take it. @throws Refusal 503 */
export async function admitOrRefuse(ask: Ask, submission: Submission): Promise<Verdict> {
  const answer = await answerWithin(ask(submission), REQUEST_TIMEOUT_MS)
  if (answer === 'away' || answer === 'late') throw storeUnavailable()
  return answer
}
