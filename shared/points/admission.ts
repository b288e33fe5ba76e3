/**
 * Admission by the kv: one call per turn of the event loop and partition, with a known status and a timeout, and
 * counted. Also the part of the verdict that the phone receives.
 */
import { within } from '#shared/runtime/deadline.ts'
import { currentSpan, type Origin, span } from '#shared/runtime/traces.ts'
import { nextTurn } from '#shared/runtime/yield-to-event-loop.ts'
import {
  erasedPerson,
  forbidden,
  notActive,
  rateLimited,
  Refusal,
  unavailable,
} from '#shared/runtime/refusal.ts'
import {
  type AdmissionRules,
  partitionOf,
  type StoreVerdict,
  KvFull,
  isKvUnavailable,
  type Submission,
  type Verdict,
  type VersionedStatus,
  KvUnavailable,
  type KvPoints,
} from '#shared/stores/kv/kv.ts'
import type { Config, Window } from '#shared/runtime/config/config.ts'
import { type Time, time } from '#shared/contracts/fields.ts'
import type { PointRejection } from '#shared/contracts/tracking.ts'
import type { Metrics } from '#shared/runtime/metrics.ts'
import type { Count, ProcessCounters } from './ledger/counters.ts'
import type { Point } from './point.ts'

/** The rules of admission from the configuration. */
export const admissionRules = ({ limits, buffer }: Pick<Config, 'limits' | 'buffer'>): AdmissionRules => ({
  checkin: limits.checkin,
  sync: limits.sync,
  ingest: limits.ingest,
  duplicateMs: buffer.duplicateMs,
  retentionMs: buffer.retentionMs,
  pendingMax: buffer.pendingMax,
})

/** Upper bounds of submissions and points per call to the kv, so that no script runs for long. */
const SUBMISSIONS_A_CALL = 256
const POINTS_A_CALL = 2_000
/** Points that may wait for the kv's answer (about 50 MB). Beyond this the kv counts as unavailable. */
const POINTS_UNDER_WAY = 200_000

/** Submissions of one call. */
interface Batch {
  readonly submissions: Submission[]
  /** The request of each submission. */
  readonly origins: Origin[]
  points: number
  readonly verdicts: Promise<StoreVerdict[]>
}

/**
 * @param most upper bound of points that wait for the kv's answer
 * @returns a function that adds a submission to the current batch and resolves with the kv's verdict; it rejects with
 * `KvUnavailable` when too many points are waiting
 */
export function createBatcher(
  kv: KvPoints,
  rules: AdmissionRules,
  metrics: Pick<Metrics, 'observe'>,
  most = POINTS_UNDER_WAY,
): (submission: Submission) => Promise<StoreVerdict> {
  /** The current batch of this turn, by partition. */
  const batches = new Map<number, Batch>()
  let underWay = 0

  const send = async (
    partition: number,
    { submissions, origins, points }: Batch,
  ): Promise<StoreVerdict[]> => {
    const startedMs = performance.now()
    metrics.observe('event_admission_batch_size', submissions.length)
    try {
      return await span(
        'admission batch',
        { submissions: submissions.length, points },
        () => span('kv admit', { partition }, () => kv.admit(partition, submissions, rules)),
        () => origins,
      )
    } finally {
      metrics.observe('event_admission_seconds', (performance.now() - startedMs) / 1_000)
      underWay -= points
    }
  }

  const begin = (partition: number): Batch => {
    const sent = async (): Promise<StoreVerdict[]> => {
      await nextTurn()
      if (batches.get(partition) === batch) batches.delete(partition)
      return send(partition, batch)
    }
    const batch: Batch = { submissions: [], origins: [], points: 0, verdicts: sent() }
    batches.set(partition, batch)
    return batch
  }

  return async (submission) => {
    const points = submission.entries.length
    if (underWay + points > most) throw new KvUnavailable('too many points are waiting for the kv')
    underWay += points
    const partition = partitionOf(submission.userId, kv.partitions)
    let batch = batches.get(partition)
    if (batch === undefined || batch.points >= POINTS_A_CALL || batch.origins.length === SUBMISSIONS_A_CALL)
      batch = begin(partition)
    batch.points += points
    batch.origins.push(currentSpan())
    const at = batch.submissions.push(submission) - 1
    return (await batch.verdicts)[at]!
  }
}

/** Resolves with the kv's verdict; rejects with `KvUnavailable` or `KvFull`. */
export type Admit = (submission: Submission) => Promise<Verdict>

/** Above this fraction of its memory the kv receives no more points, so that a flush always fits. */
export const MEMORY_CEILING = 0.9

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
 * @param note called with each verdict
 */
export function createAdmission(
  {
    kv,
    rules,
    metrics,
  }: { readonly kv: KvPoints; readonly rules: AdmissionRules; readonly metrics: Metrics },
  prime: () => Promise<VersionedStatus>,
  learn: (status: VersionedStatus | null) => void = () => undefined,
  note: (submission: Submission, verdict: Verdict) => void = () => undefined,
): Admit {
  const submit = createBatcher(kv, rules, metrics)
  let priming: Promise<VersionedStatus> | null = null
  return async (submission) => {
    let verdict = await submit(submission)
    if (verdict.outcome === 'unknown') {
      learn(null)
      priming ??= prime().finally(() => (priming = null))
      learn(await priming)
      verdict = await submit(submission)
    }
    // Connections come back one by one: this one may admit before another one can write the status.
    if (verdict.outcome === 'unknown') throw new KvUnavailable('the status cannot be written to the kv')
    if (verdict.outcome === 'admitted') learn(ACTIVE)
    if (verdict.outcome === 'refused') learn({ ...verdict, version: 0 })
    note(submission, verdict)
    return verdict
  }
}

/**
 * Resolves after answers that have already arrived were read. After the event loop was blocked, timers run before
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

/** Admits a submission that the phone stores until it is confirmed. @throws Refusal 503 when the kv is unavailable */
export async function admitOrThrow(admit: Admit, submission: Submission): Promise<Verdict> {
  const answer = await answerWithin(admit(submission), REQUEST_TIMEOUT_MS)
  if (answer === 'unavailable' || answer === 'late') throw storeUnavailable()
  return answer
}

/** @returns the same admission, which also counts the points of a refused submission by reason */
export const countingAdmission =
  (count: Count, admit: (submission: Submission) => Promise<Verdict>) =>
  async (submission: Submission): Promise<Verdict> => {
    try {
      return countVerdict(count, submission, await admit(submission))
    } catch (error) {
      throw countRefusal(count, submission, error)
    }
  }

/** Counts the points of a verdict other than `admitted`. @returns the verdict */
export function countVerdict(count: Count, { entries }: Submission, verdict: Verdict): Verdict {
  if (verdict.outcome !== 'admitted') count(`rejected:${reasonOf(verdict)}`, entries.length)
  return verdict
}

/** Counts the points if the error is a refusal. @returns the error */
export function countRefusal(count: Count, { entries }: Submission, error: unknown): unknown {
  if (error instanceof Refusal) count(`rejected:${error.reason}`, entries.length)
  return error
}

const REASONS = { limited: 'rate-limited', full: 'buffer-full', erased: 'erased', 'no-consent': 'no-consent' }
const reasonOf = (verdict: Exclude<Verdict, { outcome: 'admitted' }>): string =>
  verdict.outcome === 'refused' ? verdict.status : REASONS[verdict.outcome]

/** @returns a function that throws a Refusal 503 when the kv does not accept a submission in time */
export function createDirectAdmission(options: {
  readonly kv: KvPoints
  readonly rules: AdmissionRules
  readonly counters: Pick<ProcessCounters, 'count'>
  readonly prime: () => Promise<VersionedStatus>
  readonly metrics: Metrics
}): (submission: Submission) => Promise<Verdict> {
  const admit = createAdmission(options, options.prime)
  return countingAdmission(options.counters.count, (submission) => admitOrThrow(admit, submission))
}

// Common to check-ins and tracks: the submission's id, and the part of the verdict that the phone receives.

const PROCESS = Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString('base64url')
let submissions = 0

/** Returns an id that is unique across processes. It is short, because rate-limit windows store it. */
export const submissionId = (): string => `${PROCESS}${(submissions++).toString(36)}`

/** Returns the refusal for a verdict other than `admitted`. */
export function refusalOfVerdict(
  verdict: Exclude<Verdict, { outcome: 'admitted' }>,
  limitName: string,
  limit: Window,
): Refusal {
  switch (verdict.outcome) {
    case 'limited':
      return rateLimited(limitName, limit, verdict.retryAfterMs)
    case 'refused':
      return notActive(verdict.status, verdict.message)
    case 'full':
      return new Refusal(
        503,
        'buffer-full',
        'Too many of your points are not stored yet. Keep the rest and send it in five minutes.',
        { 'Retry-After': '300' },
      )
    case 'erased':
      return erasedPerson()
    case 'no-consent':
      return forbidden(
        'You have taken back your consent, so your way is not recorded. Agree to the privacy notice again to go on.',
      )
  }
}

/** Counts rejected points by reason. */
export function countRejected(count: Count, rejected: readonly { readonly reason: PointRejection }[]): void {
  for (const [reason, points] of Map.groupBy(rejected, (one) => one.reason))
    count(`rejected:${reason}`, points.length)
}

/** The latest time of durable points; null if there are none. */
export const durableThrough = (points: readonly Point[]): Time | null =>
  points.length === 0 ? null : time(points.reduce((latest, { sentMs }) => Math.max(latest, sentMs), 0))
