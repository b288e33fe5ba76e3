/** Uncaught errors: they are logged in one line and end the process. */
import { isDatabaseUnavailable } from '#shared/stores/db/db.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'

/**
 * postgres.js leaves a rejection unhandled when the server dies while a connection opens. The queries report the same
 * error, so this one does not end the process.
 */
export function watchUncaughtErrors(log: Log): void {
  process.on('unhandledRejection', (error) => {
    if (isDatabaseUnavailable(error)) {
      log.warn('a connection to the database broke while it was opening', errorFields(error))
      return
    }
    log.error('unhandled rejection of a promise: stopping', errorFields(error))
    process.exit(1)
  })
  // Also errors at start. Bun itself would print the error with all its properties.
  process.on('uncaughtException', (error) => {
    log.error('uncaught error: stopping', errorFields(error))
    process.exit(1)
  })
}
