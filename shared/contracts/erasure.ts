/** The answer of an erasure: what was deleted, and which parts are still being retried. */
import { z } from 'zod'
import { Time } from './fields.ts'

/**
 * Parts of an erasure: `rows` in the database; `buffer` and live map; `objects`, which are pictures and spooled events.
 */
export const ErasurePart = z.enum(['rows', 'buffer', 'objects'])
export type ErasurePart = z.infer<typeof ErasurePart>

export const Erasure = z.object({
  erased: z.record(z.string(), z.int()).describe('Deleted rows by table, pending points and stored objects'),
  erased_at: Time,
  remaining: z
    .array(ErasurePart)
    .describe('Parts that have failed so far and are retried until they succeed; empty with status 200'),
})
export type Erasure = z.infer<typeof Erasure>
