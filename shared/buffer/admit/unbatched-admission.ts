/** Admission of tracks by a service without a journal: phones keep the points that the kv does not accept. */
import type { AdmissionRules, Kv, Submission, Verdict, VersionedStatus } from '#shared/kv/kv.ts'
import { countingAdmission } from '#shared/ledger/counted-admission.ts'
import type { ProcessCounters } from '#shared/ledger/process-counters.ts'
import { admitOrThrow, createAdmitWithTimeout } from './admit-with-timeout.ts'

/** @returns a function that throws a Refusal 503 when the kv does not accept a submission in time */
export function createDirectAdmission(options: {
  readonly kv: Kv
  readonly rules: AdmissionRules
  /** Counts points that are refused here. */
  readonly counters: Pick<ProcessCounters, 'count'>
  /** Reads the status from the database and writes it to the kv. */
  readonly prime: () => Promise<VersionedStatus>
}): (submission: Submission) => Promise<Verdict> {
  const admit = createAdmitWithTimeout(options.kv, options.rules, options.prime)
  return countingAdmission(options.counters.count, (submission) => admitOrThrow(admit, submission))
}
