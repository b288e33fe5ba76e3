/** A press of the SOS button: its states, and what follows from each. Data and pure functions. */
import type { ClientError } from '#shared/client/index.ts'
import { judgeFailure } from '#shared/client/queue/retry-delays.ts'
import type { Place } from '../recording/positions.ts'

export interface SosPress {
  /** The pilgrim who pressed: another walk may be on this phone meanwhile. */
  readonly userId: string
  /** Absent in what releases before 1.7.0 have kept. */
  readonly name?: string
  /** By the phone's clock: identifies the press. */
  readonly pressedMs: number
  readonly place: Place | null
  /** When the service had it, by its clock; null: it does not have it. */
  readonly sentMs: number | null
  /** When an operator confirmed it; null: nobody has yet. */
  readonly seenMs: number | null
  /** Whether nobody could be alerted; absent: that is not known. */
  readonly isUnalerted?: boolean
}

/**
 * - `waits`: it is sent again by itself.
 * - `other-account`: the phone is logged in with another LINE account, and the service takes it from its own alone.
 * - `refused`: the service will never take it.
 * - `sent`, `unalerted`, `seen`: the service has it.
 */
export type SosState = 'waits' | 'other-account' | 'refused' | 'sent' | 'unalerted' | 'seen'

/** Whether the service answers the same request in the same way each time. */
const isFinal = (error: ClientError | null): boolean =>
  error !== null && judgeFailure(error, { final: ['forbidden'] }) !== 'wait'

/** @param error why the last attempt failed; null: it did not, or there was none */
export function stateOf({ sentMs, seenMs, isUnalerted }: SosPress, error: ClientError | null): SosState {
  if (seenMs !== null) return 'seen'
  if (sentMs !== null) return isUnalerted === true ? 'unalerted' : 'sent'
  if (!isFinal(error)) return 'waits'
  return error?.code === 'forbidden' ? 'other-account' : 'refused'
}

/** After this time nobody is asked any more whether it was seen, ms. */
const ASKED_MS = 24 * 3_600_000
/** A confirmed press is shown for this long, ms. */
const SEEN_SHOWN_MS = 12 * 3_600_000

interface Circumstances {
  /** The press is of the walk that is on the phone now. */
  readonly isCurrent: boolean
  /** By the service's clock, epoch milliseconds. */
  readonly nowMs: number
}

/** Whether the press is sent now, or its state asked for. */
export function isDue(
  press: SosPress,
  error: ClientError | null,
  { isCurrent, nowMs, isHidden, isSignedOut }: Circumstances & { isHidden: boolean; isSignedOut: boolean },
): boolean {
  if (isSignedOut || isFinal(error) || press.seenMs !== null) return false
  return press.sentMs === null || (isCurrent && !isHidden && nowMs - press.sentMs < ASKED_MS)
}

/** Whether the screen says what became of it. That the service has it concerns its own walk alone. */
export function isShown({ sentMs, seenMs }: SosPress, { isCurrent, nowMs }: Circumstances): boolean {
  if (sentMs === null) return true
  return isCurrent && nowMs - (seenMs ?? sentMs) < (seenMs === null ? ASKED_MS : SEEN_SHOWN_MS)
}
