/** Every refusal that a client may see. */
import { z } from 'zod'

export const ErrorBody = z.object({
  error: z.string().describe('A sentence that says what happened and what to do'),
  code: z.string().optional().describe('Stable, kebab-case'),
  request_id: z.string().optional(),
})
export type ErrorBody = z.infer<typeof ErrorBody>

/** Stable codes: clients branch on these, people read the sentence. */
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
