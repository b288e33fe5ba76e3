/**
 * Admission by a replica alone while the kv is unavailable. It uses the last known status, and counts rate limits and
 * duplicates in its own memory.
 */
import { admit } from './embedded/admit-points.ts'
import { apply, createState, prune } from './embedded/state.ts'
import type { AdmissionRules, StoreVerdict, Submission, VersionedStatus } from './kv.ts'

export interface OfflineAdmission {
  /** Stores the latest status from the kv or the database; null: the kv has lost its status. */
  learn(status: VersionedStatus | null): void
  /** Whether a status is known. */
  knows(): boolean
  /** Returns `unknown` while no status is known. */
  decide(submission: Submission): StoreVerdict
  /** Forgets a check-in that could not be stored, so that its repetition is no duplicate. */
  takeBack(submission: Submission): void
}

export function createOfflineAdmission(rules: AdmissionRules, now: () => number): OfflineAdmission {
  const state = createState()
  let pruneAtMs = 0
  return {
    learn(status) {
      state.status = status
    },
    knows: () => state.status !== null,
    decide(submission) {
      const nowMs = now()
      if (nowMs >= pruneAtMs) {
        prune(state, nowMs)
        pruneAtMs = nowMs + rules.checkin.windowMs
      }
      const verdict = admit(
        { state, nowMs, rules, caller: '', change: (change) => apply(state, change) },
        submission,
      )
      // The journal stores the points; only the windows stay here.
      state.buffers.clear()
      state.live.clear()
      return verdict
    },
    takeBack({ kind, userId, duplicateKey }) {
      const key = `${kind}:${userId}`
      const window = state.windows.get(key)
      if (window === undefined) return
      state.windows.set(key, {
        ...window,
        calls: window.calls.filter((call) => call.duplicateKey !== duplicateKey),
      })
    },
  }
}
