/** A press of the SOS button: its states and their consequences. Data and pure functions. */
import type { ClientError } from '#shared/client/index.ts'
import { judgeFailure } from '#shared/client/queue/retry-delays.ts'
import type { Place } from '../recording/positions.ts'

export interface SosPress {
  /** The pilgrim who pressed; the phone may have another walk by now. */
  readonly userId: string
  /** Absent in presses stored by releases before 1.7.0. */
  readonly name?: string
  /** Time by the phone's clock; identifies the press. */
  readonly pressedMs: number
  readonly place: Place | null
  /** When the service received it, by the service's clock; null: not yet. */
  readonly sentMs: number | null
  /** When an operator confirmed it; null: not yet. */
  readonly seenMs: number | null
  /** Whether no operator could be alerted; absent: unknown. */
  readonly isUnalerted?: boolean
}

/**
 * - `waits`: it is retried automatically.
 * - `other-account`: the phone is logged in with another LINE account, and the service accepts the press only
 * from the account that made it.
 * - `refused`: the service will never accept it.
 * - `sent`, `unalerted`, `seen`: the service has it.
 */
export type SosState = 'waits' | 'other-account' | 'refused' | 'sent' | 'unalerted' | 'seen'

/** Whether repeating the request would get the same answer. */
const isFinal = (error: ClientError | null): boolean =>
  error !== null && judgeFailure(error, { final: ['forbidden'] }) !== 'wait'

/** @param error error of the last attempt; null if it succeeded or there was none */
export function stateOf({ sentMs, seenMs, isUnalerted }: SosPress, error: ClientError | null): SosState {
  if (seenMs !== null) return 'seen'
  if (sentMs !== null) return isUnalerted === true ? 'unalerted' : 'sent'
  if (!isFinal(error)) return 'waits'
  return error?.code === 'forbidden' ? 'other-account' : 'refused'
}

/** For this long the app asks whether the press was confirmed, ms. */
const ASKED_MS = 24 * 3_600_000
/** A confirmed press is shown for this long, ms. */
const SEEN_SHOWN_MS = 12 * 3_600_000

interface Circumstances {
  /** The press belongs to the walk that is on the phone now. */
  readonly isCurrent: boolean
  /** Service time, epoch milliseconds. */
  readonly nowMs: number
}

/** Whether to send the press or to ask for its state now. */
export function isDue(
  press: SosPress,
  error: ClientError | null,
  { isCurrent, nowMs, isHidden, isSignedOut }: Circumstances & { isHidden: boolean; isSignedOut: boolean },
): boolean {
  if (isSignedOut || isFinal(error) || press.seenMs !== null) return false
  return press.sentMs === null || (isCurrent && !isHidden && nowMs - press.sentMs < ASKED_MS)
}

/** Whether the screen shows the state of the press. Once the service has it, only its own walk shows it. */
export function isShown({ sentMs, seenMs }: SosPress, { isCurrent, nowMs }: Circumstances): boolean {
  if (sentMs === null) return true
  return isCurrent && nowMs - (seenMs ?? sentMs) < (seenMs === null ? ASKED_MS : SEEN_SHOWN_MS)
}
