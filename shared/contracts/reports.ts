/** Reports for operators: pilgrims, surveys, carbon, timeline, roles, audit log. */
import { z } from 'zod'
import { endpointsOf } from './endpoint.ts'
import { Erasure } from './erasure.ts'
import { SurveyQuestion } from './event-settings.ts'
import {
  Day,
  HoursOfQuery,
  page,
  PageQuery,
  ParticipantStatus,
  Role,
  text,
  Time,
  UserId,
  LastSeen,
  exampleText,
  exampleNumber,
  OfUser,
} from './fields.ts'
import { Answer } from './survey.ts'
import { ParticipantStatusAnswer, PendingPoints } from './profile.ts'

const endpoint = endpointsOf('admin')

export const UserRow = z.object({
  userId: UserId,
  display_name: z.string().nullable(),
  km: exampleNumber(12.34),
  checkins: z.int(),
  level: z.int(),
  carbon_kg: exampleNumber(0),
  role: Role.nullable(),
  participant_status: ParticipantStatus,
  survey_completed: z.literal([0, 1]),
  last_seen: LastSeen.nullable(),
  pending: PendingPoints,
})
export type UserRow = z.infer<typeof UserRow>

export const UserSort = z.enum(['userId', 'km', 'checkins', 'last_seen'])
export type UserSort = z.infer<typeof UserSort>

/** Maximum number of pilgrims whose pending points an order includes: as many as the largest page folds. */
export const MAX_ORDERED = 200

export const UsersQuery = PageQuery.extend({
  sort: UserSort.default('userId').describe(
    `While more than ${MAX_ORDERED} pilgrims have pending points, or the buffer is unavailable, the order goes by the figures of the last flush. Operators who see pseudonyms get ids in an order that is unrelated to them`,
  ),
  order: z.enum(['asc', 'desc']).optional().describe('Default: asc for userId, desc for figures'),
  search: text(128).optional().describe('Part of a user id or a display name'),
  silent_hours: HoursOfQuery.optional().describe(
    'Only who takes part and whose latest point is older than this many hours, and not older than a day unless 24 or more are asked for. With sort=last_seen only',
  ),
  with_links: z
    .literal('true', { error: 'must be true, or not be given' })
    .optional()
    .describe('Only pilgrims who have a tracker, or a link that they passed on and that works'),
}).refine(({ sort, silent_hours: hours }) => hours === undefined || sort === 'last_seen', {
  path: ['silent_hours'],
  error: 'belongs to sort=last_seen',
})
export type UsersQuery = z.infer<typeof UsersQuery>

export const SurveyRow = z.object({
  userId: UserId,
  display_name: z.string().nullable(),
  answers: z.record(z.string(), Answer),
  revision: z.int(),
  form_version: z.int().nullable().describe('Version of the questions; null: not known'),
  submitted_at: Time,
})

export const Surveys = page(SurveyRow).extend({
  questions: z
    .record(z.string(), SurveyQuestion)
    .describe(
      'By q1 to q10: the newest question, with the choices of all versions; those of the newest version come first',
    ),
  total: z.int(),
  responses: z
    .record(z.string(), z.int())
    .describe(
      'Surveys that answer each question (q1 to q10) and each of the 50 most common names with a suffix',
    ),
  counts: z
    .record(z.string(), z.record(z.string(), z.int()))
    .describe(
      'For each of these, the counts of the 100 most common answers; texts longer than 100 characters are not counted',
    ),
})
export type Surveys = z.infer<typeof Surveys>

const Amount = z.object({ km: z.number(), kg: z.number() })

export const Carbon = z.object({
  total_kg: exampleNumber(1.74),
  mean_kg: exampleNumber(1.74).describe('total_kg divided by pilgrims'),
  saved_kg: exampleNumber(2.7).describe('Compared with the same distance by bus'),
  pilgrims: z
    .int()
    .describe('Pilgrims with a counted point or a self-report above zero, including erased ones'),
  by_mode: z
    .record(z.string(), Amount)
    .meta({ examples: [{ walk: { km: 12.34, kg: 0 }, train: { km: 42.5, kg: 1.74 } }] })
    .describe('With journeys that pilgrims reported'),
  recorded_km: z
    .record(z.string(), z.number())
    .describe('Kilometres between recorded points by mode, without reported journeys'),
  by_day: z.array(Amount.extend({ day: Day })),
  consumption: z.object({ water: z.int(), recycle: z.int(), hotel: z.int(), kg: z.number() }),
  as_of: Time.nullable().describe('Time of the last flush'),
})
export type Carbon = z.infer<typeof Carbon>

const Figures = z.object({
  points: z.int(),
  checkins: z.int(),
  pilgrims: z.int(),
  km: z.number(),
  carbon_kg: z.number(),
})

export const TimelineEntry = z.object({
  at: Time,
  kind: z.enum(['started', 'paused', 'resumed', 'ended', 'push']),
  by: z.string().nullable(),
  message: z.string().nullable(),
})
export type TimelineEntry = z.infer<typeof TimelineEntry>

export const Timeline = z.object({
  time_zone: exampleText('Asia/Taipei'),
  days: z.array(Figures.extend({ day: Day })),
  hours: z.array(Figures.extend({ hour: Time })),
  entries: z.array(TimelineEntry),
  as_of: Time.nullable(),
})
export type Timeline = z.infer<typeof Timeline>

export const RoleAssignment = z.object({
  userId: UserId,
  display_name: z.string().nullable(),
  role: Role,
  assigned_by: exampleText('lin'),
  assigned_at: Time,
})

const SEEN = 'What the operator saw before. If somebody has changed it since, the answer is 409'

export const AssignRoleRequest = z.object({
  user_id: UserId,
  role: Role.nullable(),
  seen: Role.nullable().optional().describe(SEEN),
})
export type AssignRoleRequest = z.infer<typeof AssignRoleRequest>

export const AssignRoleAnswer = z.object({ userId: UserId, role: Role.nullable() })
export type AssignRoleAnswer = z.infer<typeof AssignRoleAnswer>

export const SetParticipantRequest = z.object({
  status: ParticipantStatus,
  seen: ParticipantStatus.optional().describe(SEEN),
})
export type SetParticipantRequest = z.infer<typeof SetParticipantRequest>

export const usersEndpoint = endpoint('GET /api/event/admin/users', {
  id: 'listUsers',
  summary: 'All pilgrims with their statistics',
  access: 'manager',
  query: UsersQuery,
  data: page(UserRow).extend({ pending: PendingPoints }),
})

export const userStatusEndpoint = endpoint('PUT /api/event/admin/users/:userId/status', {
  id: 'setUserStatus',
  summary: 'Sets any participant status of a pilgrim',
  access: 'manager',
  params: OfUser,
  body: SetParticipantRequest,
  data: ParticipantStatusAnswer,
  errors: ['not-found', 'conflict', 'erased'],
})

export const SetPalanquinRequest = z.object({
  palanquin: z.boolean(),
  tracker: z
    .uuid({ error: 'must be the id of a tracker, as GET /api/event/admin/users/{userId} lists it' })
    .nullable()
    .optional()
    .describe('The tracker that is the palanquin; null or absent: the phone that proves the pilgrim’s id'),
})
export type SetPalanquinRequest = z.infer<typeof SetPalanquinRequest>
export const SetPalanquinAnswer = z.object({ userId: UserId, palanquin: z.boolean() })
export type SetPalanquinAnswer = z.infer<typeof SetPalanquinAnswer>

export const palanquinEndpoint = endpoint('PUT /api/event/admin/users/:userId/palanquin', {
  id: 'setPalanquin',
  summary:
    'Names the device of a pilgrim that is the palanquin, instead of an earlier one, or takes the name back. Its place and time are public and exact, from its next report on',
  access: 'manager',
  params: OfUser,
  body: SetPalanquinRequest,
  data: SetPalanquinAnswer,
  errors: ['not-found', 'conflict', 'erased'],
})

export const eraseUserEndpoint = endpoint('DELETE /api/event/admin/users/:userId', {
  id: 'eraseUser',
  summary: 'Erases one pilgrim; the event’s totals keep their contribution, without the person',
  mayContinue: true,
  access: 'owner',
  params: OfUser,
  data: Erasure,
  errors: ['not-found'],
  example: { params: { userId: 'U11111111111111111111111111111111' } },
})

export const surveysEndpoint = endpoint('GET /api/event/admin/surveys', {
  id: 'listSurveys',
  summary: 'All survey submissions with counts per question; CSV with Accept: text/csv',
  access: 'manager',
  query: PageQuery,
  data: Surveys,
  otherMedia: ['text/csv'],
  downloads: ['text/csv'],
})

export const carbonEndpoint = endpoint('GET /api/event/admin/carbon', {
  id: 'readCarbon',
  summary: 'Carbon footprint of the event: total, by mode, by day, and self-reported consumption',
  access: 'manager',
  data: Carbon,
  cacheMs: 1_000,
})

export const timelineEndpoint = endpoint('GET /api/event/admin/timeline', {
  id: 'readTimeline',
  summary: 'Figures by day and hour in the event’s time zone, by the points’ own time',
  access: 'volunteer',
  data: Timeline,
  cacheMs: 1_000,
})

export const rolesEndpoint = endpoint('GET /api/event/admin/roles', {
  id: 'listRoles',
  summary: 'Role assignments',
  access: 'manager',
  query: PageQuery,
  data: page(RoleAssignment),
})

export const assignRoleEndpoint = endpoint('POST /api/event/admin/roles', {
  id: 'assignRole',
  summary: 'Assigns, changes or (null) removes a role; callers cannot grant a role above their own',
  access: 'manager',
  caller: 'body',
  body: AssignRoleRequest,
  data: AssignRoleAnswer,
  errors: ['not-found', 'conflict', 'erased'],
  example: { body: { user_id: 'U11111111111111111111111111111111', role: 'volunteer' } },
})
