/** Admission of tracks by a service that keeps no journal: what the kv does not take, the phone keeps. */
import { unavailable } from '#shared/errors.ts'
import {
  type AdmissionRules,
  type Kv,
  kvIsAway,
  type Submission,
  type Verdict,
  type VersionedStatus,
} from '#shared/kv/kv.ts'
import { createTurn } from './turn.ts'

/** @throws Refusal 503 when the kv does not take it */
export function createTrackDoor(options: {
  readonly kv: Kv
  readonly rules: AdmissionRules
  /** Reads the status from the database and brings it to the kv. */
  readonly prime: () => Promise<VersionedStatus>
}): (submission: Submission) => Promise<Verdict> {
  const submit = createTurn(options.kv, options.rules)
  return async (submission) => {
    try {
      const verdict = await submit(submission)
      if (verdict.outcome !== 'unknown') return verdict
      await options.prime()
      return await submit(submission)
    } catch (error) {
      if (!kvIsAway(error)) throw error
      throw unavailable(
        'The short-term store is not reachable just now: keep your points and send them again.',
      )
    }
  }
}
