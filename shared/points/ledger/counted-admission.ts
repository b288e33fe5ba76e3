/** Admission that counts refused points. */
import { Refusal } from '#shared/runtime/refusal.ts'
import type { Submission, Verdict } from '#shared/stores/kv/kv.ts'
import type { Count } from './process-counters.ts'

/** @returns the same admission, which counts the points of a refused submission under the reason */
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

/** Counts the points of an error that is a refusal. @returns the error */
export function countRefusal(count: Count, { entries }: Submission, error: unknown): unknown {
  if (error instanceof Refusal) count(`rejected:${error.reason}`, entries.length)
  return error
}

function reasonOf(verdict: Exclude<Verdict, { outcome: 'admitted' }>): string {
  switch (verdict.outcome) {
    case 'limited':
      return 'rate-limited'
    case 'refused':
      return verdict.status
    case 'full':
      return 'buffer-full'
    case 'erased':
    case 'no-consent':
      return verdict.outcome
    case 'unknown':
      return 'unavailable'
  }
}
