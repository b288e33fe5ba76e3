/** What became of every point, and what operators do about those that are stuck. */
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { page, PageQuery, Time } from './fields.ts'

const Points = z.int().min(0)

export const Ledger = z.object({
  received: Points.describe('The sum of all the others'),
  stored: Points.describe('Rows of the table of points'),
  duplicate: Points.describe('Known already, in the buffer or in the table'),
  rejected: z.record(z.string(), Points).describe('Turned away, by reason; dropped by an operator'),
  pending: Points.describe('In the buffer, until the next flush'),
  journaled: Points.describe('In the journals, until the buffer is reachable'),
  dead_letter: Points.describe('Refused by the database; list, replay or drop them at admin/dead-letters'),
  erased: Points.describe('Of pilgrims who have been erased'),
  lost: Points.describe('Accepted, and nowhere any more'),
  in_flight: z.int().describe('Between two of these at this moment; 0 when nothing moves'),
  losses: z
    .array(z.object({ noticed_at: Time, partition: z.int(), points: z.int() }))
    .describe('The last 100'),
  as_of: Time,
})
export type Ledger = z.infer<typeof Ledger>

export const ledgerEndpoint = endpoint({
  method: 'GET',
  path: '/api/event/admin/ledger',
  service: 'admin',
  summary: 'What became of every point that was ever received',
  access: 'manager',
  data: Ledger,
  errors: [503],
})

export const DeadLetter = z.object({
  id: z.int(),
  userId: z.string(),
  field: z
    .string()
    .describe('Identity in the pilgrim’s buffer: kind (c, t) and time sent, epoch milliseconds'),
  value: z.string().describe('The point as it stood in the buffer'),
  reason: z.string().describe('What the database said last'),
  refusals: z.int().describe('How often it has refused it'),
  refused_at: Time,
})
export type DeadLetter = z.infer<typeof DeadLetter>

const DeadLetterId = z.object({
  id: z
    .string()
    .regex(/^\d{1,9}$/, { error: 'must be the number of a dead letter' })
    .transform(Number),
})

export const deadLettersEndpoint = endpoint({
  method: 'GET',
  path: '/api/event/admin/dead-letters',
  service: 'admin',
  summary: 'Points that the database refuses, youngest first',
  access: 'manager',
  query: PageQuery,
  data: page(DeadLetter),
  errors: [503],
})

export const deadLetterEndpoint = endpoint({
  method: 'GET',
  path: '/api/event/admin/dead-letters/:id',
  service: 'admin',
  summary: 'One point that the database refuses',
  access: 'manager',
  params: DeadLetterId,
  data: DeadLetter,
  errors: [404, 503],
})

export const Replayed = z.object({
  id: z.int(),
  outcome: z
    .enum(['replayed', 'refused', 'erased'])
    .describe('Back in the buffer; refused again already; or dropped, because the pilgrim was erased since'),
})
export type Replayed = z.infer<typeof Replayed>

export const replayDeadLetterEndpoint = endpoint({
  method: 'POST',
  path: '/api/event/admin/dead-letters/:id/replay',
  service: 'admin',
  summary: 'Puts a dead letter back into the buffer; refused again, it returns with the new reason',
  access: 'manager',
  params: DeadLetterId,
  data: Replayed,
  errors: [404, 409, 503],
})

export const dropDeadLetterEndpoint = endpoint({
  method: 'DELETE',
  path: '/api/event/admin/dead-letters/:id',
  service: 'admin',
  summary: 'Drops a dead letter for good; the ledger counts it as rejected',
  access: 'owner',
  params: DeadLetterId,
  data: z.object({ id: z.int() }),
  errors: [404, 503],
})

export const Flushed = z.object({
  finished: z.boolean().describe('Whether all that waited at the call is stored; false: it goes on'),
  stored: Points,
  duplicates: Points,
  dead_letters: Points,
})
export type Flushed = z.infer<typeof Flushed>

export const forceFlushEndpoint = endpoint({
  method: 'POST',
  path: '/api/event/admin/flush',
  service: 'admin',
  summary: 'Flushes the buffer now, and waits up to 20 s for it',
  access: 'manager',
  data: Flushed,
  errors: [503],
})
