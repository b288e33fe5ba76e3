/** What became of every point, and what operators do about those that are stuck. */
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Time } from './fields.ts'

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
