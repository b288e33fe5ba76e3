/** Collects what arrives in one turn of the event loop and sends it as one call per partition. */
import { type AdmissionRules, type Kv, partitionOf, type Submission, type Verdict } from '#shared/kv/kv.ts'

/** Submissions per call of the kv at most, so that no script runs for long. */
const SLICE = 256

interface Waiting {
  readonly submission: Submission
  readonly resolve: (verdict: Verdict) => void
  readonly reject: (error: unknown) => void
}

/** @returns a function that submits in the current turn and resolves with the kv's verdict */
export function createTurn(kv: Kv, rules: AdmissionRules): (submission: Submission) => Promise<Verdict> {
  const queues = new Map<number, Waiting[]>()

  const send = async (partition: number, waiting: readonly Waiting[]): Promise<void> => {
    try {
      const submissions = waiting.map((one) => one.submission)
      const verdicts = await kv.admit(partition, submissions, rules)
      for (const [i, one] of waiting.entries()) one.resolve(verdicts[i]!)
    } catch (error) {
      for (const one of waiting) one.reject(error)
    }
  }

  const sendTurn = (partition: number): void => {
    const all = queues.get(partition)!
    queues.delete(partition)
    for (let i = 0; i < all.length; i += SLICE) void send(partition, all.slice(i, i + SLICE))
  }

  return (submission) =>
    new Promise((resolve, reject) => {
      const partition = partitionOf(submission.userId, kv.partitions)
      const queue = queues.get(partition)
      const waiting = { submission, resolve, reject }
      if (queue !== undefined) {
        queue.push(waiting)
        return
      }
      queues.set(partition, [waiting])
      setImmediate(sendTurn, partition)
    })
}
