/** Whether what was refused would be refused again. */
import type { ClientError } from '#shared/client/index.ts'

const FINAL = new Set<string>(['invalid-request', 'too-large', 'ended'])

/** The service refuses the content, or the event has ended. Anything else, as of a network's sign-in page, is tried again. */
export const isFinal = ({ status, code }: ClientError): boolean => status === 413 || FINAL.has(code)
