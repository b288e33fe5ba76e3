/** What an erasure answers: how much went, and what is repeated until it is done. */
import { z } from 'zod'
import { Time } from './fields.ts'

/** What an erasure has to do: in the database, in the buffer and on the live map, among pictures and spooled events. */
export const ErasurePart = z.enum(['rows', 'buffer', 'objects'])
export type ErasurePart = z.infer<typeof ErasurePart>

export const Erasure = z.object({
  erased: z.record(z.string(), z.int()).describe('Rows that went, by table; pending points; stored objects'),
  erased_at: Time,
  remaining: z
    .array(ErasurePart)
    .describe('What could not be done yet, and is repeated until it is done; empty with 200'),
})
export type Erasure = z.infer<typeof Erasure>
