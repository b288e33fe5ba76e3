import { LoggableError } from '#shared/runtime/log.ts'

/** An operator's command can not be executed. The message is written for the operator. */
export class CommandRefused extends LoggableError {
  override name = 'CommandRefused'
}
