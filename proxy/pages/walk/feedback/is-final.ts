/** Whether what was refused would be refused again. */
import type { ClientError } from '#shared/client/index.ts'

/** The content is wrong, or the event has ended. Anything else is tried again later. */
export const isFinal = ({ status, code }: ClientError): boolean =>
  status === 400 || status === 413 || status === 422 || code === 'ended'
