/** Collects the submissions of one turn of the event loop and sends them as one call per partition. */
import {
  type AdmissionRules,
  type Kv,
  KvUnavailable,
  partitionOf,
  type Submission,
  type Verdict,
} from '#shared/kv/kv.ts'

/** Upper bounds of submissions and points per call to the kv, so that no script runs for long. */
const SUBMISSIONS_A_CALL = 256
const POINTS_A_CALL = 2_000
/** Points that may wait for the kv's answer (about 50 MB). Beyond this bound the kv counts as unavailable. */
const POINTS_UNDER_WAY = 200_000

interface QueuedSubmission {
  readonly submission: Submission
  readonly resolve: (verdict: Verdict) => void
  readonly reject: (error: unknown) => void
}

const pointsOf = (waiting: readonly QueuedSubmission[]): number =>
  waiting.reduce((sum, { submission }) => sum + submission.entries.length, 0)

/**
 * @param most upper bound of points that wait for the kv's answer
 * @returns a function that adds a submission to the current batch and resolves with the kv's verdict; it rejects with
 * `KvUnavailable` when too many points are waiting
 */
export function createBatcher(
  kv: Kv,
  rules: AdmissionRules,
  most = POINTS_UNDER_WAY,
): (submission: Submission) => Promise<Verdict> {
  const queues = new Map<number, QueuedSubmission[]>()
  let underWay = 0

  const send = async (partition: number, waiting: readonly QueuedSubmission[]): Promise<void> => {
    try {
      const submissions = waiting.map((one) => one.submission)
      const verdicts = await kv.admit(partition, submissions, rules)
      for (const [i, one] of waiting.entries()) one.resolve(verdicts[i]!)
    } catch (error) {
      for (const one of waiting) one.reject(error)
    } finally {
      underWay -= pointsOf(waiting)
    }
  }

  const sendBatch = (partition: number): void => {
    const all = queues.get(partition)!
    queues.delete(partition)
    let from = 0
    let points = 0
    for (const [i, { submission }] of all.entries()) {
      points += submission.entries.length
      if (points < POINTS_A_CALL && i + 1 - from < SUBMISSIONS_A_CALL && i + 1 < all.length) continue
      void send(partition, all.slice(from, i + 1))
      from = i + 1
      points = 0
    }
  }

  return (submission) =>
    new Promise((resolve, reject) => {
      const partition = partitionOf(submission.userId, kv.partitions)
      const queue = queues.get(partition)
      if (underWay + submission.entries.length > most) {
        reject(new KvUnavailable('too many points are waiting for the kv'))
        return
      }
      underWay += submission.entries.length
      const waiting = { submission, resolve, reject }
      if (queue !== undefined) {
        queue.push(waiting)
        return
      }
      queues.set(partition, [waiting])
      setImmediate(sendBatch, partition)
    })
}
