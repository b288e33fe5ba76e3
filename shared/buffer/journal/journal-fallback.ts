/** A check-in's other way in, while the kv is late or away: decided by this replica, and journaled. */
import { unavailable } from '#shared/http/errors.ts'
import type { Submission, Verdict } from '#shared/kv/kv.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'
import { countVerdict } from '#shared/ledger/counted-admission.ts'
import type { Count } from '#shared/ledger/process-counters.ts'
import { storeUnavailable } from '../admit/admit-with-timeout.ts'
import type { OfflineAdmission } from './offline-admission.ts'
import type { Replay } from './journal-recovery.ts'

/**
 * @returns a function that resolves when the check-in is in the journal, or refused by this replica
 * @param asked the call of the kv that is still under way, if there is one
 * @throws Refusal 503 when the journal does not take it, or no status was ever known
 */
export function createJournalFallback(own: OfflineAdmission, replay: Replay, count: Count, log: Log) {
  /** Check-ins on their way to the disk, by pilgrim and duplicate key. */
  const writing = new Map<string, Promise<void>>()

  const write = async (submission: Submission, asked: Promise<Verdict> | null): Promise<void> => {
    try {
      await replay.journal(submission, asked)
    } catch (error) {
      log.error('the journal does not take a check-in', errorFields(error))
      throw unavailable('The check-in can not be stored just now: please try again.', 10)
    }
  }

  const writeFirst = async (submission: Submission, asked: Promise<Verdict> | null): Promise<void> => {
    const key = `${submission.userId} ${submission.duplicateKey}`
    const written = write(submission, asked)
    writing.set(key, written)
    try {
      await written
    } catch (error) {
      own.takeBack(submission)
      throw error
    } finally {
      writing.delete(key)
    }
  }

  /** It is as durable as the check-in that it repeats; the points that came with it are new. */
  const writeAgain = async (submission: Submission, asked: Promise<Verdict> | null): Promise<void> => {
    await writing.get(`${submission.userId} ${submission.duplicateKey}`)
    count('duplicate', 1)
    const entries = submission.entries.slice(1)
    if (entries.length > 0) await write({ ...submission, entries }, asked)
  }

  return async (submission: Submission, asked: Promise<Verdict> | null): Promise<Verdict> => {
    const verdict = own.decide(submission)
    if (verdict.outcome === 'unknown') throw storeUnavailable()
    if (verdict.outcome === 'admitted')
      await (verdict.duplicate ? writeAgain(submission, asked) : writeFirst(submission, asked))
    return countVerdict(count, submission, verdict)
  }
}
