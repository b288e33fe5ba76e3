import { LoggableError } from '#shared/runtime/loggable-error.ts'

/** A command of operators can not be done; the message is for the person who gave it. */
export class CommandRefused extends LoggableError {
  override name = 'CommandRefused'
}
