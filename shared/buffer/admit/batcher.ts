/** Collects what arrives in one turn of the event loop and sends it as one call per partition. */
import {
  type AdmissionRules,
  type Kv,
  KvUnavailable,
  partitionOf,
  type Submission,
  type Verdict,
} from '#shared/kv/kv.ts'

/** Submissions, and about as many points, per call of the kv at most, so that no script runs for long. */
const SUBMISSIONS_A_CALL = 256
const POINTS_A_CALL = 2_000
/** Points that may wait for the kv's answer, about 50 MB of them; a kv that is so far behind counts as away. */
const POINTS_UNDER_WAY = 200_000

interface Waiting {
  readonly submission: Submission
  readonly resolve: (verdict: Verdict) => void
  readonly reject: (error: unknown) => void
}

const pointsOf = (waiting: readonly Waiting[]): number =>
  waiting.reduce((sum, { submission }) => sum + submission.entries.length, 0)

/**
 * @param most points that may wait for the kv's answer at a time
 * @returns a function that submits in the current turn and resolves with the kv's verdict; rejects with
 * `KvUnavailable` when too many wait already
 */
export function createBatcher(
  kv: Kv,
  rules: AdmissionRules,
  most = POINTS_UNDER_WAY,
): (submission: Submission) => Promise<Verdict> {
  const queues = new Map<number, Waiting[]>()
  let underWay = 0

  const send = async (partition: number, waiting: readonly Waiting[]): Promise<void> => {
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

  const sendTurn = (partition: number): void => {
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
        reject(new KvUnavailable('too many points wait for the kv'))
        return
      }
      underWay += submission.entries.length
      const waiting = { submission, resolve, reject }
      if (queue !== undefined) {
        queue.push(waiting)
        return
      }
      queues.set(partition, [waiting])
      setImmediate(sendTurn, partition)
    })
}
