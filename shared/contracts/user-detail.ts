/** All data of one pilgrim, for operators, and as an export for the pilgrim. */
import { z } from 'zod'
import { endpointsOf } from './endpoint.ts'
import { Role, Time, UserId, FirstSeen, LastSeen, exampleText, Place, OfUser } from './fields.ts'
import { PendingPoints, Profile } from './profile.ts'
import { Answer } from './survey.ts'
import { Tracker } from './trackers.ts'
import { DaySummary } from './user-history.ts'

const endpoint = endpointsOf('admin')

/** Maximum length of each list, newest first. An export contains all items. */
export const LISTED = 10

const RecentCheckIn = z.object({
  recorded_at: Time,
  received_at: Time,
  ...Place,
  mode: z.string().nullable(),
  in_range: z.boolean().describe('false: outside the event’s area, stored but not counted'),
  pending: z.boolean().describe('In the buffer, not yet in the database'),
})

export const UserDetail = Profile.omit({ pending: true }).extend({
  pending: PendingPoints,
  phone: z.string().nullable().describe('Unmasked, as the pilgrim wrote it'),
  first_seen: FirstSeen.nullable(),
  last_seen: LastSeen.nullable(),
  language: z.string().nullable().describe('BCP 47, such as zh-TW'),
  palanquin: z.boolean().describe('A device of this pilgrim is the palanquin, whose place is public'),
  palanquin_tracker: z
    .uuid()
    .nullable()
    .describe('The tracker that is the palanquin; null: the phone that proves the pilgrim’s id'),
  known_to_others: z
    .boolean()
    .describe(
      'Others may know this id, so no phone proves it: of its devices, only a tracker can be the palanquin',
    ),
  role: Role.nullable().describe('Role in the event; determines the audiences of messages, not access'),
  role_assigned_by: z.string().nullable(),
  role_assigned_at: Time.nullable(),
  reachable: z
    .boolean()
    .describe(
      'Whether LINE can deliver a message: the id is a LINE user id, and the pilgrim follows the account',
    ),
  reachable_changed_at: Time.nullable().describe(
    'Time of the last follow, unfollow or failed delivery; null if LINE has reported none',
  ),
  privacy_version: z.string().nullable(),
  consent_withdrawn: z
    .boolean()
    .describe('Consent was withdrawn: the pilgrim is not on the live map until they consent again'),
  consents: z
    .array(z.object({ agreed: z.boolean(), version: z.string().nullable(), at: Time }))
    .describe(`The last ${LISTED} consents and withdrawals, newest first`),
  survey: z
    .object({ revision: z.int(), submitted_at: Time, answers: z.record(z.string(), Answer) })
    .nullable(),
  consumption: z
    .record(z.string(), z.number())
    .describe('Self-reported numbers of water bottles, recycled bottles and hotel nights'),
  transport: z.record(z.string(), z.number()).describe('Self-reported kilometres by mode'),
  stored_points: z.int().describe('Points in the database that are inside the event’s area'),
  latest_day: DaySummary.nullable().describe('The latest day with points; null: there are no points'),
  recent_checkins: z
    .array(RecentCheckIn)
    .describe(`The last ${LISTED} check-ins by their own time, newest first`),
  recent_feedback: z
    .array(
      z.object({
        id: z.int(),
        category: exampleText('route'),
        status: exampleText('new'),
        created_at: Time,
      }),
    )
    .describe(`The last ${LISTED} feedback items, newest first`),
  push_devices: z.int().describe('Devices that get the event’s messages by Web Push'),
  trackers: z.array(Tracker).describe('The pilgrim’s tracker apps, oldest first, without their keys'),
  shares: z
    .array(
      z.object({
        made_by: z.enum(['pilgrim', 'bot']),
        show_name: z.boolean(),
        live_until: Time.nullable(),
        created_at: Time,
        expires_at: Time,
      }),
    )
    .describe('The pilgrim’s links, newest first, without their addresses, which are the pilgrim’s to give'),
  named_in: z
    .array(
      z.object({
        kind: z
          .enum(['message', 'note', 'log'])
          .describe('A message, a note beside feedback, or the audit log'),
        text: exampleText('Please look after Lin A-chia.'),
        at: Time,
      }),
    )
    .describe(
      `The last ${LISTED} texts of operators that contain the pilgrim’s name, newest first. An erasure leaves them as they are`,
    ),
  created_at: Time.nullable().describe(
    'Time of the first contact; null for a pilgrim who is in the buffer only',
  ),
  updated_at: Time.nullable(),
})
export type UserDetail = z.infer<typeof UserDetail>

export const userEndpoint = endpoint('GET /api/event/admin/users/:userId', {
  id: 'readUser',
  summary: 'All data of one pilgrim, with the unmasked phone number; each call is written to the audit log',
  access: 'manager',
  params: OfUser,
  data: UserDetail,
  errors: ['not-found'],
})

const Rows = z.array(z.record(z.string(), z.unknown()))

/** An export for the pilgrim: the rows of each table by table name, with snake_case columns and ISO times. */
export const UserExport = z
  .object({
    userId: UserId,
    exported_at: Time,
    gps_points: Rows.describe('Stored points; kind c is a check-in, t a track point'),
    pending: Rows.nullable().describe(
      'Points that are in the buffer and not yet in the database, with the same columns; null: the buffer is unavailable, and these points are missing',
    ),
  })
  .catchall(z.unknown())
export type UserExport = z.infer<typeof UserExport>

export const exportUserEndpoint = endpoint('GET /api/event/admin/users/:userId/export', {
  id: 'exportUser',
  summary: 'All data of one pilgrim as a file: JSON, or the points as GPX',
  access: 'owner',
  params: OfUser,
  query: z.object({ format: z.enum(['json', 'gpx']).default('json') }),
  media: 'application/json',
  otherMedia: ['application/gpx+xml'],
  downloads: ['application/json', 'application/gpx+xml'],
  data: UserExport,
  errors: ['not-found'],
})
