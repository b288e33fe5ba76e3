/** Error bodies and error codes. */
import { z } from 'zod'

export const ErrorBody = z.object({
  error: z.string().describe('A sentence for people: what happened and what to do'),
  code: z.string().optional().describe('Stable, kebab-case'),
  request_id: z.string().optional(),
})
export type ErrorBody = z.infer<typeof ErrorBody>

/** Stable codes for clients to branch on. */
export const ErrorCode = z.enum([
  'invalid-request',
  'unauthorized',
  'forbidden',
  'paused',
  'ended',
  'not-found',
  'method-not-allowed',
  'conflict',
  'too-large',
  'too-slow',
  'rate-limited',
  'internal',
  'unavailable',
  'buffer-full',
  'erased',
])
export type ErrorCode = z.infer<typeof ErrorCode>
