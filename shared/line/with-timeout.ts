/** A bound for calls of the SDK, which waits for ever by itself. */
import { rejectWith, within } from '#shared/runtime/deadline.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

/** LINE did not answer in time; whether the call took effect is not known. */
export class LineTimeout extends LoggableError {
  override name = 'LineSilent'
}

/** Waits for a call, but not for ever. */
export const withTimeout = <T>(call: Promise<T>, ms: number): Promise<T> =>
  within(
    call,
    ms,
    rejectWith(() => new LineTimeout(`LINE did not answer within ${ms} ms`)),
  )
