/** One pilgrim as operators see them: everything that is known, and all of it as a file for the pilgrim. */
import { FirstSeen, LastSeen } from './first-and-last-seen.ts'
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Latitude, Longitude, Role, Time, UserId } from './fields.ts'
import { PendingPoints, Profile } from './profile.ts'
import { Answer } from './survey.ts'

/** Youngest first, of each list; an export holds all. */
export const LISTED = 10

const RecentCheckIn = z.object({
  recorded_at: Time.describe('Place of the check-in in time'),
  received_at: Time,
  lat: Latitude,
  lng: Longitude,
  mode: z.string().nullable(),
  in_range: z.boolean().describe('false: outside the event’s area; not counted'),
  pending: z.boolean().describe('Waits in the buffer'),
})

export const UserDetail = Profile.omit({ pending: true }).extend({
  pending: PendingPoints,
  phone: z.string().nullable().describe('In full, as the pilgrim wrote it'),
  first_seen: FirstSeen.nullable(),
  last_seen: LastSeen.nullable(),
  language: z.string().nullable().describe('BCP 47, such as zh-TW'),
  role: Role.nullable().describe('Part in the event; decides audiences of messages, not access'),
  role_assigned_by: z.string().nullable().describe('Name of the token'),
  role_assigned_at: Time.nullable(),
  reachable: z
    .boolean()
    .describe(
      'Whether a message would reach them: their id is one of LINE, and they have not left the account',
    ),
  reachable_changed_at: Time.nullable().describe(
    'Last follow, unfollow or refusal; null: LINE has told nothing',
  ),
  privacy_version: z.string().nullable(),
  consent_withdrawn: z.boolean().describe('Consent was taken back: off the live map until it is given again'),
  consents: z
    .array(z.object({ agreed: z.boolean(), version: z.string().nullable(), at: Time }))
    .describe(`The last ${LISTED} given or taken back, youngest first`),
  survey: z
    .object({ revision: z.int(), submitted_at: Time, answers: z.record(z.string(), Answer) })
    .nullable()
    .describe('The answers that hold'),
  consumption: z.record(z.string(), z.number()).describe('Reported pieces: water, recycle, hotel'),
  transport: z.record(z.string(), z.number()).describe('Reported kilometres by mode'),
  stored_points: z.int().describe('Points in the area that the flush has stored'),
  recent_checkins: z
    .array(RecentCheckIn)
    .describe(`The last ${LISTED} check-ins by the time that was sent, youngest first`),
  recent_feedback: z
    .array(z.object({ id: z.int(), category: z.string(), status: z.string(), created_at: Time }))
    .describe(`The last ${LISTED} reports, youngest first`),
  created_at: Time.nullable().describe('First heard of; null for someone who is known in the buffer only'),
  updated_at: Time.nullable().describe('Last change of what they or LINE say of them'),
})
export type UserDetail = z.infer<typeof UserDetail>

export const userEndpoint = endpoint({
  method: 'GET',
  path: '/api/event/admin/users/:userId',
  service: 'admin',
  summary: 'Everything about one pilgrim, the phone number in full; each call is written to the audit log',
  access: 'manager',
  params: z.object({ userId: UserId }),
  data: UserDetail,
  errors: [404, 503],
})

const Rows = z.array(z.record(z.string(), z.unknown()))

/** A file for the pilgrim: rows of each table under its name, all of them with snake_case names and plain times. */
export const UserExport = z
  .object({
    userId: UserId,
    exported_at: Time,
    gps_points: Rows.describe('Stored points; kind c is a check-in, t a point of a track'),
    pending: Rows.nullable().describe(
      'Points that wait in the buffer and are not stored yet, with the names of stored ones; null: the buffer can not be asked just now, and they are missing',
    ),
  })
  .catchall(z.unknown())
export type UserExport = z.infer<typeof UserExport>

export const exportUserEndpoint = endpoint({
  method: 'GET',
  path: '/api/event/admin/users/:userId/export',
  service: 'admin',
  summary: 'Everything that is known about one pilgrim, as a file: JSON, or their points as GPX',
  access: 'owner',
  params: z.object({ userId: UserId }),
  query: z.object({ format: z.enum(['json', 'gpx']).default('json') }),
  media: 'application/json',
  otherMedia: ['application/gpx+xml'],
  downloads: ['application/json', 'application/gpx+xml'],
  data: UserExport,
  errors: [404, 503],
})
