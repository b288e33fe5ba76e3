/** The ledger of received points, dead letters, and the forced flush. */
import { z } from 'zod'
import { endpointsOf } from './endpoint.ts'
import { page, PageQuery, Time, exampleText, wholeNumber } from './fields.ts'

const endpoint = endpointsOf('admin')

const Points = z.int().min(0)

export const Ledger = z.object({
  received: Points.describe('All points that were ever received: the sum of the other counters'),
  stored: Points.describe('Rows in the table of points'),
  duplicate: Points.describe('Already in the buffer or in the table'),
  rejected: z
    .record(z.string(), Points)
    .describe('Rejected points by reason, including dead letters dropped by an operator'),
  pending: Points.describe('In the buffer; the next flush writes them to the database'),
  journaled: Points.describe('In the journals; journal recovery brings them to the buffer'),
  dead_letter: Points.describe('Refused by the database; list, requeue or drop them at admin/dead-letters'),
  erased: Points,
  lost: Points.describe('Accepted, but no longer in any store'),
  in_flight: z.int().describe('Moving between two of these stores right now; 0 when idle'),
  losses: z
    .array(z.object({ noticed_at: Time, partition: z.int(), points: z.int() }))
    .describe('The last 100 losses'),
  as_of: Time,
})
export type Ledger = z.infer<typeof Ledger>

export const ledgerEndpoint = endpoint('GET /api/event/admin/ledger', {
  id: 'readLedger',
  summary: 'Counters of all points ever received, by what happened to them',
  access: 'manager',
  data: Ledger,
})

export const DeadLetter = z.object({
  id: z.int(),
  userId: exampleText('w-5hk3q7d2m9x0c4v8b1n6r2t7ye'),
  field: exampleText('t1775957430000').describe(
    'Key in the pilgrim’s buffer: kind (c or t) and timestamp in epoch milliseconds',
  ),
  value: exampleText('[0,1775957430000,24.1481,120.6731,1]').describe('As the buffer stored it'),
  reason: exampleText('new row violates check constraint').describe('The last error message of the database'),
  refusals: z.int(),
  refused_at: Time,
  requeued: z.boolean().describe('Whether the next flush tries it again'),
})
export type DeadLetter = z.infer<typeof DeadLetter>

const DeadLetterId = z.object({
  id: wholeNumber(0, 999_999_999, /^\d{1,9}$/, 'must be the number of a dead letter'),
})

export const deadLettersEndpoint = endpoint('GET /api/event/admin/dead-letters', {
  id: 'listDeadLetters',
  summary: 'Points that the database refused, newest first',
  access: 'manager',
  query: PageQuery,
  data: page(DeadLetter),
})

export const deadLetterEndpoint = endpoint('GET /api/event/admin/dead-letters/:id', {
  id: 'readDeadLetter',
  summary: 'One point that the database refused',
  access: 'manager',
  params: DeadLetterId,
  data: DeadLetter,
  errors: ['not-found'],
})

export const Replayed = z.object({
  id: z.int(),
  outcome: z
    .enum(['replayed', 'erased'])
    .describe('replayed: the next flush stores it; erased: dropped because the pilgrim was erased'),
})
export type Replayed = z.infer<typeof Replayed>

export const requeueDeadLetterEndpoint = endpoint('POST /api/event/admin/dead-letters/:id/replay', {
  id: 'requeueDeadLetter',
  summary: 'Requeues a dead letter: the next flush stores its point, or gives the letter the new reason',
  access: 'manager',
  params: DeadLetterId,
  data: Replayed,
  errors: ['not-found', 'conflict'],
})

export const dropDeadLetterEndpoint = endpoint('DELETE /api/event/admin/dead-letters/:id', {
  id: 'dropDeadLetter',
  summary: 'Deletes a dead letter permanently; the ledger counts it as rejected',
  access: 'owner',
  params: DeadLetterId,
  data: z.object({ id: z.int() }),
  errors: ['not-found'],
  example: { params: { id: 2 }, answer: { id: 2 } },
})

export const Flushed = z.object({
  finished: z
    .boolean()
    .describe('Whether all points that were pending at the call are stored; false: the flush continues'),
  stored: Points,
  duplicates: Points,
  dead_letters: Points,
})
export type Flushed = z.infer<typeof Flushed>

export const forceFlushEndpoint = endpoint('POST /api/event/admin/flush', {
  id: 'forceFlush',
  summary: 'Flushes the buffer now; waits up to 20 s for the result',
  access: 'manager',
  data: Flushed,
})
