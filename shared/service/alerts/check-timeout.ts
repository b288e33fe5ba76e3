/** The bound of every health check. */
import { LoggableError } from '#shared/runtime/log.ts'
import { rejectWith, within } from '#shared/runtime/deadline.ts'

const CHECK_MS = 3_000

/** @throws LoggableError on timeout */
export const withCheckTimeout = <T>(work: Promise<T>): Promise<T> =>
  within(
    work,
    CHECK_MS,
    rejectWith(() => new LoggableError(`no answer within ${CHECK_MS} ms`)),
  )
