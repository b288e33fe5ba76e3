/** Admission that counts what it turns away. */
import { Refusal } from '#shared/errors.ts'
import type { Submission, Verdict } from '#shared/kv/kv.ts'
import type { Count } from './tally.ts'

/** @returns the same admission; the points of a refused submission are counted under the reason */
export const tallied =
  (count: Count, admit: (submission: Submission) => Promise<Verdict>) =>
  async (submission: Submission): Promise<Verdict> => {
    try {
      const verdict = await admit(submission)
      if (verdict.outcome !== 'admitted') count(`rejected:${reasonOf(verdict)}`, submission.entries.length)
      return verdict
    } catch (error) {
      if (error instanceof Refusal) count(`rejected:${error.reason}`, submission.entries.length)
      throw error
    }
  }

function reasonOf(verdict: Exclude<Verdict, { outcome: 'admitted' }>): string {
  switch (verdict.outcome) {
    case 'limited':
      return 'rate-limited'
    case 'refused':
      return verdict.status
    case 'full':
      return 'buffer-full'
    case 'unknown':
      return 'unavailable'
  }
}
