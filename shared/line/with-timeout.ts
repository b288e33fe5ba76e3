/** A timeout for calls of the SDK, which has none. */
import { rejectWith, within } from '#shared/runtime/deadline.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

/** LINE did not answer in time; it is unknown whether the call took effect. */
export class LineTimeout extends LoggableError {
  override name = 'LineSilent'
}

/** Waits for a call, at most `ms` milliseconds. */
export const withTimeout = <T>(call: Promise<T>, ms: number): Promise<T> =>
  within(
    call,
    ms,
    rejectWith(() => new LineTimeout(`LINE did not answer within ${ms} ms`)),
  )
