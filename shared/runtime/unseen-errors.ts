/** Errors that nobody catches: the end of a process, and one line in its log. */
import { isDatabaseUnavailable } from '#shared/db/db.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'

/**
 * postgres.js leaves a rejection to nobody when the server dies while a connection is opening. It says nothing
 * that the queries do not say themselves, and is no reason to end; any other one is.
 */
export function watchUnseenErrors(log: Log): void {
  process.on('unhandledRejection', (error) => {
    if (isDatabaseUnavailable(error)) {
      log.warn('a connection to the database broke while it was opening', errorFields(error))
      return
    }
    log.error('a promise was rejected and nobody looked: ending', errorFields(error))
    process.exit(1)
  })
  // A start that fails comes here too. Bun itself would print the error with everything that hangs on it.
  process.on('uncaughtException', (error) => {
    log.error('nobody has caught an error: ending', errorFields(error))
    process.exit(1)
  })
}
