/** What operators see as it happens: server-sent events, each with a name and JSON of its contract. */
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { ActivityStatus, Time, Zoom } from './fields.ts'
import { Ending } from './operations.ts'

export const StreamQuery = z.object({ zoom: Zoom.default(10).describe('Of the cells; as in admin/clusters') })
export type StreamQuery = z.infer<typeof StreamQuery>

export const StatusSeen = z.object({
  status: ActivityStatus,
  message: z.string().nullable(),
  changed_at: Time,
  changed_by: z.string().nullable(),
})
export type StatusSeen = z.infer<typeof StatusSeen>

const Admitted = z.object({
  points: z.int().describe('Check-ins and track points'),
  checkins: z.int(),
  duplicates: z.int().describe('Sent again, and not taken again'),
})
export type Admitted = z.infer<typeof Admitted>

export const CountsSeen = Admitted.extend({
  at: Time,
  seconds: z.number().describe('In which these were admitted, by all replicas together: about one'),
  totals: Admitted.describe('Since the short-term store began'),
})
export type CountsSeen = z.infer<typeof CountsSeen>

export const CellsSeen = z.object({
  at: Time,
  zoom: z.int().describe('The one asked for, or the next coarser one with at most 2,000 cells'),
  cells: z.array(
    z.object({
      cell: z.string().describe('zoom/x/y'),
      bounds: z.tuple([z.number(), z.number(), z.number(), z.number()]).describe('west, south, east, north'),
      pilgrims: z.int().describe('Whose new latest position is here'),
    }),
  ),
})
export type CellsSeen = z.infer<typeof CellsSeen>

export const IncidentSeen = z.object({
  id: z.string(),
  opened_at: Time,
  failure: z.boolean().describe('Whether data are at risk, or a warning only'),
  alerts: z.int().describe('How often the owner has been told'),
})
export type IncidentSeen = z.infer<typeof IncidentSeen>

export const AlertSeen = z.object({
  state: z.enum(['opened', 'changed', 'recovered']),
  incident: IncidentSeen,
})
export type AlertSeen = z.infer<typeof AlertSeen>

/** What stands at the moment; null is what can not be read just now, and of `incident` also: all is well. */
export const Snapshot = z.object({
  at: Time,
  resumed: z.boolean().describe('Whether all that was missed since Last-Event-ID has been sent before this'),
  status: StatusSeen.nullable(),
  ending: Ending.nullable(),
  counts: CountsSeen.nullable(),
  incident: IncidentSeen.nullable(),
})
export type Snapshot = z.infer<typeof Snapshot>

/** Name of the event → its data. */
export const STREAM_EVENTS = {
  snapshot: Snapshot,
  status: StatusSeen,
  ending: Ending,
  counts: CountsSeen,
  cells: CellsSeen,
  alert: AlertSeen,
} as const

export type StreamEventName = keyof typeof STREAM_EVENTS
export type StreamData<N extends StreamEventName> = z.infer<(typeof STREAM_EVENTS)[N]>

export const streamEndpoint = endpoint({
  method: 'GET',
  path: '/api/event/admin/stream',
  service: 'admin',
  summary:
    'The event as it happens, as server-sent events: snapshot (first), status, ending, counts, cells, alert; Last-Event-ID resumes',
  access: 'manager',
  query: StreamQuery,
  media: 'text/event-stream',
  data: z.object(STREAM_EVENTS).partial().describe('Name of an event → its data'),
  errors: [503],
})
