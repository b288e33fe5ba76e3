import { rejectWith, within } from '#shared/runtime/deadline.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

/** The store cannot be used: it is down, unreachable, full or damaged, or rejects access. Not for a missing object. */
export class ObjectsUnavailable extends LoggableError {
  override readonly name: string = 'ObjectsUnavailable'
}

/** One object can not be read, because its file is truncated or was modified by another program. The store works. */
export class ObjectDamaged extends ObjectsUnavailable {}

/**
 * Waits for work, at most `ms` milliseconds. Late work is not cancelled.
 * @throws ObjectsUnavailable on timeout
 */
export const withTimeout = <T>(ms: number, what: string, work: Promise<T>): Promise<T> =>
  within(
    work,
    ms,
    rejectWith(() => new ObjectsUnavailable(`${what}: no answer in ${ms} ms`)),
  )
