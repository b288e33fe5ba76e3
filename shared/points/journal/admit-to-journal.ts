/** Accepts check-ins while the kv is late or unavailable: this replica decides, and the journal stores them. */
import { unavailable } from '#shared/runtime/refusal.ts'
import type { Submission, Verdict } from '#shared/stores/kv/kv.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'
import type { Count } from '#shared/points/ledger/process-counters.ts'
import { countVerdict, storeUnavailable } from '../admission.ts'
import type { OfflineAdmission } from '#shared/stores/kv/decide-without-kv.ts'
import type { JournalRecovery } from './journal-recovery.ts'

/**
 * @returns a function that resolves when the check-in is in the journal, or refused by this replica. Its second
 * parameter is the admission by the kv that is still under way, if there is one
 * @throws Refusal 503 when the journal can not store it, or no status was ever known
 */
export function createJournalFallback(
  offline: OfflineAdmission,
  recovery: JournalRecovery,
  count: Count,
  log: Log,
) {
  /** Check-ins that are being written to disk, by pilgrim and duplicate key. */
  const writing = new Map<string, Promise<void>>()

  const write = async (submission: Submission, firstCall: Promise<Verdict> | null): Promise<void> => {
    try {
      await recovery.journal(submission, firstCall)
    } catch (error) {
      log.error('writing a check-in to the journal failed', errorFields(error))
      throw unavailable('The check-in can not be stored just now: please try again.', 10)
    }
  }

  const writeFirst = async (submission: Submission, firstCall: Promise<Verdict> | null): Promise<void> => {
    const key = `${submission.userId} ${submission.duplicateKey}`
    const written = write(submission, firstCall)
    writing.set(key, written)
    try {
      await written
    } catch (error) {
      offline.takeBack(submission)
      throw error
    } finally {
      writing.delete(key)
    }
  }

  /** A duplicate is as durable as the check-in that it repeats; its track points are new. */
  const writeDuplicate = async (
    submission: Submission,
    firstCall: Promise<Verdict> | null,
  ): Promise<void> => {
    await writing.get(`${submission.userId} ${submission.duplicateKey}`)
    count('duplicate', 1)
    const entries = submission.entries.slice(1)
    if (entries.length > 0) await write({ ...submission, entries }, firstCall)
  }

  return async (submission: Submission, firstCall: Promise<Verdict> | null): Promise<Verdict> => {
    const verdict = offline.decide(submission)
    if (verdict.outcome === 'unknown') throw storeUnavailable()
    if (verdict.outcome === 'admitted')
      await (verdict.duplicate ? writeDuplicate(submission, firstCall) : writeFirst(submission, firstCall))
    return countVerdict(count, submission, verdict)
  }
}
