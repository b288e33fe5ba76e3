/** Collects the submissions of one turn of the event loop and sends them as one call per partition. */
import { nextTurn } from '#shared/runtime/yield-to-event-loop.ts'
import { currentSpan, type Origin, span } from '#shared/runtime/traces.ts'
import type { Metrics } from '#shared/runtime/metrics.ts'
import {
  type AdmissionRules,
  type Kv,
  KvUnavailable,
  partitionOf,
  type StoreVerdict,
  type Submission,
} from '#shared/stores/kv/kv.ts'

/** Upper bounds of submissions and points per call to the kv, so that no script runs for long. */
const SUBMISSIONS_A_CALL = 256
const POINTS_A_CALL = 2_000
/** Points that may wait for the kv's answer (about 50 MB). Beyond this bound the kv counts as unavailable. */
const POINTS_UNDER_WAY = 200_000

/** Submissions of one call. */
interface Batch {
  readonly submissions: Submission[]
  /** The requests that they came with. */
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
  kv: Kv,
  rules: AdmissionRules,
  metrics: Pick<Metrics, 'observe'>,
  most = POINTS_UNDER_WAY,
): (submission: Submission) => Promise<StoreVerdict> {
  /** The last batch of this turn, by partition. */
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
