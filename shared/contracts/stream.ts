/** The operators' live stream: server-sent events, each with a name and JSON data. */
import { z } from 'zod'
import { endpointsOf } from './endpoint.ts'
import { ActivityStatus, Time, Zoom, EXAMPLE_DAY } from './fields.ts'
import { Ending, StatusMessages } from './operations.ts'

const endpoint = endpointsOf('admin')

const StreamQuery = z.object({
  zoom: Zoom.default(10).describe('Zoom of the cells, as in admin/clusters'),
})

export const StreamStatus = z.object({
  status: ActivityStatus,
  message: z.string().nullable(),
  messages: StatusMessages.nullish(),
  changed_at: Time,
  changed_by: z.string().nullable(),
})
export type StreamStatus = z.infer<typeof StreamStatus>

const Admitted = z.object({
  points: z.int().describe('Check-ins and track points'),
  checkins: z.int(),
  duplicates: z.int(),
})
export type Admitted = z.infer<typeof Admitted>

export const StreamCounts = Admitted.extend({
  at: Time,
  seconds: z
    .number()
    .describe('Length of the period of these counts, about one second; all replicas together'),
  totals: Admitted.describe('Totals since Redis was last empty'),
})
export type StreamCounts = z.infer<typeof StreamCounts>

export const StreamCells = z.object({
  at: Time,
  zoom: z.int().describe('The requested zoom, or the next coarser one with at most 2,000 cells'),
  cells: z.array(
    z.object({
      cell: z.string().describe('zoom/x/y'),
      bounds: z.tuple([z.number(), z.number(), z.number(), z.number()]).describe('west, south, east, north'),
      pilgrims: z.int().describe('Pilgrims with a new latest position in this cell'),
    }),
  ),
})
export type StreamCells = z.infer<typeof StreamCells>

export const StreamIncident = z.object({
  id: z.string(),
  opened_at: Time,
  failure: z.boolean().describe('true: data are at risk; false: a warning'),
  alerts: z.int(),
})
export type StreamIncident = z.infer<typeof StreamIncident>

export const StreamAlert = z.object({
  state: z.enum(['opened', 'changed', 'recovered']),
  incident: StreamIncident,
})

/** The current state. A part that cannot be read now is null; `incident` is also null when there is none. */
export const Snapshot = z.object({
  at: Time,
  resumed: z.boolean().describe('Whether all events since Last-Event-ID were sent before this snapshot'),
  status: StreamStatus.nullable(),
  ending: Ending.nullable(),
  counts: StreamCounts.nullable(),
  incident: StreamIncident.nullable(),
})
export type Snapshot = z.infer<typeof Snapshot>

export const STREAM_EVENTS = {
  snapshot: Snapshot,
  status: StreamStatus,
  ending: Ending,
  counts: StreamCounts,
  cells: StreamCells,
  alert: StreamAlert,
} as const

export type StreamEventName = keyof typeof STREAM_EVENTS
export type StreamData<N extends StreamEventName> = z.infer<(typeof STREAM_EVENTS)[N]>

export const streamEndpoint = endpoint('GET /api/event/admin/stream', {
  id: 'openStream',
  summary:
    'Live stream of server-sent events: snapshot (first), status, ending, counts, cells, alert; resumes from Last-Event-ID',
  access: 'manager',
  query: StreamQuery,
  headers: { 'Last-Event-ID': 'Id of the last event that the client has: the stream continues after it' },
  media: 'text/event-stream',
  data: z.object(STREAM_EVENTS).partial().describe('Name of a stream event → its data'),
  example: {
    answer: `id: 7-0
event: snapshot
data: {"at":"${EXAMPLE_DAY}T01:31:05.000Z","resumed":false,"status":{"status":"active","message":null,"changed_at":"${EXAMPLE_DAY}T00:00:00.000Z","changed_by":null},"ending":null,"counts":null,"incident":null}

`,
  },
})
