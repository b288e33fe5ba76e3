/**
 * Admission in memory: the same decisions as `check-in-limit.lua` and `admit-points.lua`, for the embedded driver, and
 * for a replica alone while the kv is unavailable.
 */
import type { MachineClock } from '#shared/runtime/clock.ts'
import {
  type AdmissionRules,
  type Entry,
  type Erased,
  rankOf,
  type Submission,
  userHash,
  type StoreVerdict,
  checkInPositionOf,
  sharesInstantByAccident,
  type VersionedStatus,
} from './kv.ts'
import {
  apply,
  bufferOf,
  type Call,
  type Change,
  createState,
  isBefore,
  prune,
  type State,
  WINDOW_PARTS,
} from './embedded/state.ts'

interface Admission {
  readonly state: State
  readonly nowMs: number
  readonly rules: AdmissionRules
  /** Name under which accepted points are counted. */
  readonly caller: string
  /** Applies a change and appends it to the log. */
  readonly change: (change: Change) => void
}

/** The first instant, starting with the check-in's own, that is free or already holds this check-in. */
function ownInstant(held: ReadonlyMap<string, string> | undefined, { field, value }: Entry): string {
  const standing = checkInPositionOf({ field, value })
  let own = field
  for (let later = 1; ; later++) {
    const existing = held?.get(own)
    const other = existing === undefined ? null : checkInPositionOf({ field: own, value: existing })
    if (standing === null || other === null || !sharesInstantByAccident(standing, other)) return own
    own = `c${standing.sentMs + later}`
  }
}

const erasureOf = ({ erased }: State, userId: string): Erased | undefined =>
  erased.size === 0 ? undefined : erased.get(userHash(userId))

const NOTHING = { known: 0, firstKnown: false, gone: 0, later: 0 }

/**
 * Puts entries into a pilgrim's buffer without checking status and limits; null when the buffer is full.
 * @param skip number of entries to skip at the beginning
 * @param bounded whether `pendingMax` applies
 */
export function put(admission: Admission, submission: Submission, skip: number, bounded: boolean) {
  const { state, nowMs, rules, caller, change } = admission
  const { userId } = submission
  const entries = submission.entries.slice(skip)
  const held = () => bufferOf(state, userId, nowMs)?.entries
  if (bounded && entries.length > 0 && (held()?.size ?? 0) + entries.length > rules.pendingMax) return null
  const erased = erasureOf(state, userId)
  // A position without points of an erased person is dropped.
  if (entries.length === 0 && erased?.stands) return { ...NOTHING, gone: 1, pending: held()?.size ?? 0 }
  const stamp = erased === undefined ? '' : `${erased.generation}~`
  let known = 0
  let gone = 0
  let checkins = 0
  let firstKnown = false
  /** Delay of the first entry's instant, ms. */
  let later = 0
  for (const [i, { field, value }] of entries.entries()) {
    if (isBefore(erased, value)) {
      gone++
      continue
    }
    const isCheckIn = field.startsWith('c')
    const own = isCheckIn ? ownInstant(held(), { field, value }) : field
    if (i === 0) later = Number(own.slice(1)) - Number(field.slice(1))
    if (held()?.has(own)) {
      known++
      if (i === 0) firstKnown = true
    } else {
      change(['put', userId, own, stamp + value, nowMs, nowMs + rules.retentionMs])
      if (isCheckIn) checkins++
    }
  }
  if (known > 0) change(['renew', userId, nowMs + rules.retentionMs])
  if (entries.length > 0) change(['entered', caller, entries.length - known - gone, known, gone, checkins])
  return { known, firstKnown, gone, pending: held()?.size ?? 0, later }
}

export function move({ state, nowMs, change }: Admission, { userId, position }: Submission): void {
  if (position === null) return
  const last = state.live.get(userId)
  if (last === undefined || rankOf(last) <= rankOf(position)) change(['move', userId, position, nowMs])
}

/** The reason to refuse a whole submission, apart from its rate limit; null: none. */
function refusalOf(state: State, { userId, entries }: Submission): StoreVerdict | null {
  const { status } = state
  if (status === null) return { outcome: 'unknown' }
  if (status.status !== 'active')
    return { outcome: 'refused', status: status.status, message: status.message }
  if (state.refused.has(userId)) return { outcome: 'no-consent' }
  const erased = erasureOf(state, userId)
  const isErased = erased?.stands || (entries[0] !== undefined && isBefore(erased, entries[0].value))
  return isErased ? { outcome: 'erased' } : null
}

/** The time of the charge that must leave the window before it has room; `excess` calls must leave before it. */
function fullUntil(charges: readonly Call[], excess: number): number {
  let left = excess
  return charges.find(({ count = 1 }) => (left -= count) < 0)!.ms
}

/** Adds a call of `ingest` to the last entry, or as a new one in a new part of the window. */
function withCall(calls: readonly Call[], call: Call, windowMs: number): Call[] {
  const partOf = ({ ms }: Call) => Math.floor((ms * WINDOW_PARTS) / windowMs)
  const last = calls.at(-1)
  return last !== undefined && partOf(last) === partOf(call)
    ? [...calls.slice(0, -1), { ...call, count: (last.count ?? 1) + 1 }]
    : [...calls, call]
}

/** Whether a call of `ingest` contains only known points; such a call is free. */
const isRepeated = ({ kind, entries }: Submission, known: number): boolean =>
  kind === 'ingest' && entries.length > 0 && known === entries.length

/**
 * The calls of a window. If the clock was set back, later calls count from now, so that they do not block until it has
 * caught up.
 */
function callsOf({ state, nowMs, change }: Admission, key: string, keptMs: number): readonly Call[] {
  const stored = state.windows.get(key)?.calls ?? []
  const calls = stored.map((call) => (call.ms > nowMs ? { ...call, ms: nowMs } : call))
  if (stored.some(({ ms }) => ms > nowMs)) change(['window', key, calls, nowMs + keptMs])
  return calls.filter(({ ms }) => ms > nowMs - keptMs)
}

/** Admits one submission. */
export function admit(admission: Admission, submission: Submission): StoreVerdict {
  const { state, nowMs, rules, caller, change } = admission
  const refusal = refusalOf(state, submission)
  if (refusal !== null) return refusal

  const { kind, userId, id, duplicateKey, entries } = submission
  const identity = entries[0]?.field ?? ''
  const limit = rules[kind]
  const cacheMs = kind === 'checkin' ? Math.max(limit.windowMs, rules.duplicateMs) : limit.windowMs
  const key = `${kind}:${userId}`
  const calls = callsOf(admission, key, cacheMs)
  const charges = calls.filter((call) => call.ms > nowMs - limit.windowMs)
  const charged = kind !== 'ingest' && calls.some((call) => call.id === id)
  const excess = charges.reduce((sum, { count = 1 }) => sum + count, 0) - limit.max
  if (excess >= 0 && !charged)
    return { outcome: 'limited', retryAfterMs: fullUntil(charges, excess) + limit.windowMs - nowMs }

  const first = calls.find(
    (call) =>
      duplicateKey !== '' && call.duplicateKey === duplicateKey && call.ms > nowMs - rules.duplicateMs,
  )
  const done = put(admission, submission, first === undefined ? 0 : 1, true)
  if (done === null) return { outcome: 'full' }
  const recordedMs = first?.recordedMs ?? submission.recordedMs + done.later
  if (first !== undefined) change(['entered', caller, 0, 1, 0, 0])
  if (done.gone === 0 && (first === undefined || entries.length > 1)) move(admission, submission)
  // A call whose points were dropped for an erasure is not stored in the window.
  if (!charged && done.gone === 0 && !isRepeated(submission, done.known)) {
    const call: Call = { ms: nowMs, id, duplicateKey, recordedMs }
    const charging = kind === 'ingest' ? withCall(calls, call, limit.windowMs) : [...calls, call]
    change(['window', key, charging, nowMs + cacheMs])
  }
  return {
    outcome: 'admitted',
    duplicates: done.known + (first === undefined ? 0 : 1),
    duplicate: first !== undefined || done.firstKnown,
    pending: done.pending,
    recordedMs,
    held:
      first === undefined && done.firstKnown && done.later === 0 && kind === 'checkin'
        ? (bufferOf(state, userId, nowMs)?.entries.get(identity) ?? null)
        : null,
  }
}

// Admission by a replica alone: with the last known status, and the limits and duplicates that it has seen itself.

export function createOfflineAdmission(rules: AdmissionRules, now: MachineClock) {
  const state = createState()
  let pruneAtMs = 0
  return {
    /** Stores the latest status from the kv or the database; null: the kv has lost its status. */
    learn(status: VersionedStatus | null): void {
      state.status = status
    },
    /** Whether a status is known. */
    knows: () => state.status !== null,
    decide(submission: Submission): StoreVerdict {
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
    /** Removes a check-in that could not be stored, so that its repetition is not a duplicate. */
    takeBack({ kind, userId, duplicateKey }: Submission): void {
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

export type OfflineAdmission = ReturnType<typeof createOfflineAdmission>
