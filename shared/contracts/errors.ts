/** Error bodies and error codes. */
import { z } from 'zod'

/** Stable codes for clients to branch on, and their status. */
export const STATUS_OF_CODE = {
  'invalid-request': 400,
  unauthorized: 401,
  forbidden: 403,
  paused: 403,
  ended: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'too-slow': 408,
  conflict: 409,
  gone: 410,
  erased: 410,
  'too-large': 413,
  'rate-limited': 429,
  internal: 500,
  unavailable: 503,
  'buffer-full': 503,
} as const

export type ErrorCode = keyof typeof STATUS_OF_CODE

/** Errors that an unchanged request may overcome later, although their status is 4xx. */
export const TEMPORARY_CODES: readonly ErrorCode[] = ['paused', 'too-slow', 'rate-limited']
export const ErrorCode = z
  .enum(Object.keys(STATUS_OF_CODE) as [ErrorCode, ...ErrorCode[]])
  .describe('Stable; clients branch on it')

export const ErrorBody = z.object({
  error: z.string().describe('A sentence for people: what happened and what to do'),
  code: ErrorCode,
  request_id: z.string().optional().describe('The X-Request-Id of the answer'),
})
export type ErrorBody = z.infer<typeof ErrorBody>
