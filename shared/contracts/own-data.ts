/** Pilgrims' access to their own data: the walk of a day, an export, an erasure. */
import { z } from 'zod'
import { endpointsOf } from './endpoint.ts'
import { Erasure } from './erasure.ts'
import { Day, Time, UserId, exampleText, exampleNumber } from './fields.ts'
import { PendingPoints } from './profile.ts'
import { UserExport } from './user-detail.ts'

const endpoint = endpointsOf('admin')

const OWN =
  'With EVENT_IDENTITY=line the ID token proves who calls. With open identity only an id that an app made from 128 random bits is accepted, because other ids may be known to others'

export const MAX_CHECKINS = 2_000

const OwnDay = z.object({
  day: Day,
  km: z.number(),
  checkins: z.int(),
  carbon_kg: z.number().describe('Of the recorded way, without self-reported kilometres'),
})

const Place = {
  lat: exampleNumber(24.1477),
  lng: exampleNumber(120.6736),
}

/** A stretch on which every counted segment was emission-free, or every one had the same motorised mode. */
const Stretch = z.object({
  from: Time,
  to: Time,
  mode: exampleText('walk').describe('Mode that the carbon was computed with'),
  inferred: z
    .boolean()
    .describe('The phone named no mode, so the speed decided: above 15 km/h counts as a bus'),
  km: z.number(),
  speed_kmh: z.number().describe('Mean speed of the counted segments'),
  carbon_kg: z.number(),
})

export const OwnWalk = z.object({
  userId: UserId,
  as_of: Time,
  pending: PendingPoints,
  days: z
    .array(OwnDay)
    .describe('Days with a point in the event’s area, ascending, in the event’s time zone'),
  day: Day.nullable().describe('The day that the fields below describe; null without any day'),
  line: z
    .array(z.object({ t: Time, ...Place }))
    .describe('Places between which the distance is counted, in order of time'),
  stretches: z
    .array(Stretch)
    .describe('The day’s counted segments in order of time, joined while the mode is the same'),
  checkins: z
    .array(z.object({ t: Time, ...Place, in_range: z.boolean() }))
    .describe(
      `The day’s first ${MAX_CHECKINS} check-ins; with in_range false they are outside of the event’s area and do not count`,
    ),
})
export type OwnWalk = z.infer<typeof OwnWalk>

export const OwnWalkRequest = z.object({
  user_id: UserId,
  day: Day.nullish().describe('A day of the event’s time zone; by default the last one with a point'),
})
export type OwnWalkRequest = z.infer<typeof OwnWalkRequest>

export const ownWalkEndpoint = endpoint('POST /api/event/me/walk', {
  id: 'readOwnWalk',
  summary: `The pilgrim’s own way: all days, and one day’s line, check-ins and carbon with its reasons. ${OWN}`,
  limit: 'user-write',
  caller: 'body',
  body: OwnWalkRequest,
  data: OwnWalk,
})

export const OwnExportRequest = z.object({
  user_id: UserId,
  format: z.enum(['json', 'gpx']).default('json'),
})

export const ownExportEndpoint = endpoint('POST /api/event/me/export', {
  id: 'exportOwnData',
  summary: `All data of the calling pilgrim as a file: JSON, or the points as GPX. ${OWN}`,
  limit: 'user-write',
  caller: 'body',
  body: OwnExportRequest,
  media: 'application/json',
  otherMedia: ['application/gpx+xml'],
  downloads: ['application/json', 'application/gpx+xml'],
  data: UserExport,
  errors: [404],
})

export const OwnErasureRequest = z.object({
  user_id: UserId,
  confirm: z
    .literal(true)
    .describe('true: the pilgrim was asked and wants it; nothing can be restored afterwards'),
})

export const ownErasureEndpoint = endpoint('POST /api/event/me/erase', {
  id: 'eraseOwnData',
  summary: `Erases the calling pilgrim; the event’s totals keep their contribution, without the person. ${OWN}`,
  mayContinue: true,
  // By address: an erasure searches every message and the audit log, and anyone can invent pilgrims to erase.
  limit: 'address-write',
  caller: 'body',
  body: OwnErasureRequest,
  data: Erasure,
  errors: [404],
})
