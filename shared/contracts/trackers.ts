/** Keys for tracker apps: a pilgrim creates one for each app, sees it once, and revokes it. */
import { z } from 'zod'
import { endpointsOf } from './endpoint.ts'
import { text, Time, UserId, exampleText } from './fields.ts'

const endpoint = endpointsOf('tracking')

export const MAX_TRACKERS = 10

const MAX_LABEL = 64

export const TrackerApp = z.enum(['owntracks', 'overland', 'traccar', 'osmand', 'gpslogger'])
export type TrackerApp = z.infer<typeof TrackerApp>

/** Form of a key: 192 random bits in base64url. */
export const TRACKER_KEY = /^[A-Za-z0-9_-]{32}$/

const Id = z.uuid({ error: 'must be the id of a tracker, as GET /api/event/trackers lists it' })

/** Why positions of an app are rejected, by what its pilgrim can do about it; the most urgent first. */
export const TROUBLES = ['in-the-future', 'unreadable', 'forgotten', 'too-old', 'other'] as const
export type Trouble = (typeof TROUBLES)[number]

/** A tracker, without its key: the service stores only the key’s hash. */
export const Tracker = z.object({
  id: Id,
  label: z.string().nullable(),
  created_at: Time.describe('With open identity, of whole hours'),
  last_used_at: Time.nullable()
    .optional()
    .describe(
      'Up to a minute too early, with open identity of whole hours; null: not in the last three days; absent: not known at the moment',
    ),
  refused: z
    .object({
      reason: z
        .enum(TROUBLES)
        .describe(
          'in-the-future: the phone’s clock is wrong; unreadable: a request without a position; forgotten: refused for a while, and the app does not keep its points; too-old: older than is accepted',
        ),
      at: Time,
    })
    .optional()
    .describe(
      'The last request with a position that could not be taken as it was; absent: none in the last three days, or not known',
    ),
})
export type Tracker = z.infer<typeof Tracker>

export const AppSetUp = z.object({
  url: exampleText(
    'https://event.example/api/event/ingest/q3V8s0YtW1n6Zr4bKc7Xe2Lm9Pd5Uh-a/owntracks',
  ).describe('The address that the app sends to; it contains the key'),
  link: z
    .string()
    .nullable()
    .describe('Opens the app on the phone and sets it up; null: the app has no such link, so type the url'),
  qr: exampleText('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 49 49">…</svg>').describe(
    'A QR code of the link, or of the url where there is no link, as an SVG document',
  ),
})
export type AppSetUp = z.infer<typeof AppSetUp>

export const NewTracker = Tracker.extend({
  key: z
    .string()
    .regex(TRACKER_KEY)
    .meta({ examples: ['q3V8s0YtW1n6Zr4bKc7Xe2Lm9Pd5Uh-a'] })
    .describe('Secret, and shown only in this answer'),
  apps: z.object({
    owntracks: AppSetUp,
    overland: AppSetUp,
    traccar: AppSetUp,
    osmand: AppSetUp,
    gpslogger: AppSetUp,
  } satisfies Record<TrackerApp, typeof AppSetUp>),
})
export type NewTracker = z.infer<typeof NewTracker>

export const TrackerRequest = z.object({
  user_id: UserId,
  label: text(MAX_LABEL)
    .overwrite((label) => label.trim())
    .nullish()
    .describe(`A name for the pilgrim’s own list, such as “old phone”; at most ${MAX_LABEL} characters`),
})
export type TrackerRequest = z.infer<typeof TrackerRequest>

export const TrackerList = z.object({ items: z.array(Tracker).describe('Oldest first') })
export type TrackerList = z.infer<typeof TrackerList>

const Owner = z.object({ user_id: UserId })

export const createTrackerEndpoint = endpoint('POST /api/event/trackers', {
  id: 'createTracker',
  summary: `Makes a key for a tracker app, with set-up links; a pilgrim has at most ${MAX_TRACKERS} at a time`,
  limit: 'user-write',
  caller: 'body',
  body: TrackerRequest,
  data: NewTracker,
  errors: ['conflict', 'erased'],
})

export const listTrackersEndpoint = endpoint('GET /api/event/trackers', {
  id: 'listTrackers',
  summary: 'The trackers of a pilgrim, without their keys',
  limit: 'user-write',
  caller: 'query',
  query: Owner,
  data: TrackerList,
})

export const revokeTrackerEndpoint = endpoint('DELETE /api/event/trackers/:id', {
  id: 'revokeTracker',
  summary: 'Revokes a tracker: its key is refused from the answer on, by every replica',
  limit: 'user-write',
  caller: 'query',
  params: z.object({ id: Id }),
  query: Owner,
  data: z.object({ id: Id }),
  errors: ['not-found'],
})
