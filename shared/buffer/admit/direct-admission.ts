/** Admission of tracks by a service that keeps no journal: what the kv does not take, the phone keeps. */
import type { AdmissionRules, Kv, Submission, Verdict, VersionedStatus } from '#shared/kv/kv.ts'
import { countingAdmission } from '#shared/ledger/counted-admission.ts'
import type { Tally } from '#shared/ledger/process-counters.ts'
import { admitOrRefuse, createAdmitWithTimeout } from './admit-with-timeout.ts'

/** @throws Refusal 503 when the kv does not take it in time */
export function createDirectAdmission(options: {
  readonly kv: Kv
  readonly rules: AdmissionRules
  /** Counts what is turned away here. */
  readonly tally: Pick<Tally, 'count'>
  /** Reads the status from the database and brings it to the kv. */
  readonly prime: () => Promise<VersionedStatus>
}): (submission: Submission) => Promise<Verdict> {
  const ask = createAdmitWithTimeout(options.kv, options.rules, options.prime)
  return countingAdmission(options.tally.count, (submission) => admitOrRefuse(ask, submission))
}
