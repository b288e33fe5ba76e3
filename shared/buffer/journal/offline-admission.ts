/**
 * What a replica decides by itself while the kv is away: by the last status it knows, with limits and
 * duplicates of its own.
 */
import { admit } from '#shared/kv/embedded/admission.ts'
import { apply, createState, prune } from '#shared/kv/embedded/state.ts'
import type { AdmissionRules, Submission, Verdict, VersionedStatus } from '#shared/kv/kv.ts'

export interface OfflineAdmission {
  /** Remembers the status as the kv or the database last told it; null: that the kv has none any more. */
  learn(status: VersionedStatus | null): void
  /** `unknown` while no status is known. */
  decide(submission: Submission): Verdict
  /** Forgets a check-in that could not be stored, and its duplicates, so that it may come again. */
  takeBack(submission: Submission): void
}

export function createOfflineAdmission(rules: AdmissionRules, now: () => number): OfflineAdmission {
  const state = createState()
  let pruneAtMs = 0
  return {
    learn(status) {
      state.status = status
    },
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
      // Points are the journal's; only windows stay here.
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
